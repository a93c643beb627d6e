import { beforeAll, describe, expect, test } from '@jest/globals';
import { createPrivateKey, X509Certificate } from 'node:crypto';
import fc from 'fast-check';
import { storedMeta } from '../../api/as-stored.ts';
import type { ContentRef, DataStore } from '../../api/steward/v1alpha1/data-store.ts';
import { issue, issueCa } from '../../kubeadm/pki/issue.ts';
import type { KeyPair } from '../../kubeadm/pki/key-pair.ts';
import { lifetimeFrom } from '../../kubeadm/pki/lifetime.ts';
import type { ReadSecret, Tenancy } from '../driver.ts';
import type { EtcdConfig } from './config.ts';
import { etcdDriver } from './driver.ts';
import { prefixRange, tenancyRange } from './range.ts';
import { isSupportedEtcd } from './version.ts';

const day = 24 * 60 * 60 * 1000;
const now = new Date('2030-06-01T00:00:00Z');
const tenancy: Tenancy = { schema: 'alpha', user: 'alpha-user', owner: 'uid-alpha' };
const noSecrets: ReadSecret = () => Promise.resolve(undefined);

let ca: KeyPair;
let otherCa: KeyPair;
let client: KeyPair;

beforeAll(async () => {
  const options = { algorithm: 'ECDSA-P256', lifetime: lifetimeFrom(now, 3650 * day) } as const;
  ca = await issueCa({ commonName: 'ca', usages: [] }, options);
  otherCa = await issueCa({ commonName: 'other', usages: [] }, options);
  client = await issue({ commonName: 'root', usages: ['clientAuth'] }, ca, options);
});

const inline = (text: string): ContentRef => ({ content: Buffer.from(text).toString('base64') });
const secret = (keyPath: string): ContentRef => ({
  secretReference: { name: 'etcd-certs', namespace: 'steward-system', keyPath },
});

function store(
  over: Partial<Record<'caCertificate' | 'caKey' | 'certificate' | 'key', ContentRef>> = {},
  endpoints = ['etcd-0:2379'],
): DataStore {
  return {
    apiVersion: 'steward.butlerlabs.dev/v1alpha1',
    kind: 'DataStore',
    metadata: storedMeta({ name: 'default' }),
    spec: {
      driver: 'etcd',
      endpoints,
      tlsConfig: {
        certificateAuthority: {
          certificate: over.caCertificate ?? inline(ca.certificate),
          privateKey: over.caKey ?? inline(ca.key),
        },
        clientCertificate: {
          certificate: over.certificate ?? inline(client.certificate),
          privateKey: over.key ?? inline(client.key),
        },
      },
    },
  };
}

const configure = (over: Parameters<typeof store>[0] = {}): Promise<EtcdConfig> =>
  etcdDriver.configure(store(over), noSecrets);

describe('configure', () => {
  test('reads inline content and Secrets alike, and both give one checksum', async () => {
    const data: Record<string, string> = {
      'ca.crt': ca.certificate,
      'ca.key': ca.key,
      'tls.crt': client.certificate,
      'tls.key': client.key,
    };
    const read: ReadSecret = ({ key }) => Promise.resolve(Buffer.from(data[key] ?? ''));
    const bySecret = await etcdDriver.configure(
      store({
        caCertificate: secret('ca.crt'),
        caKey: secret('ca.key'),
        certificate: secret('tls.crt'),
        key: secret('tls.key'),
      }),
      read,
    );
    expect(etcdDriver.checksum(bySecret)).toBe(etcdDriver.checksum(await configure()));
  });

  test('prefers inline content to a reference', async () => {
    await expect(configure({ caKey: { ...inline(ca.key), ...secret('nowhere') } })).resolves.toBeDefined();
  });

  test('names every field that is missing, with the Secret and its key', async () => {
    const broken = configure({
      caKey: secret('ca.key'),
      certificate: {},
      key: { secretReference: { keyPath: 'tls.key' } },
    });
    await expect(broken).rejects.toMatchObject({ name: 'StoreError', reason: 'CredentialsMissing' });
    await expect(broken).rejects.toThrow(
      /certificateAuthority\.privateKey refers to Secret steward-system\/etcd-certs, key "ca\.key"/,
    );
    await expect(broken).rejects.toThrow(/clientCertificate\.certificate is not set/);
    await expect(broken).rejects.toThrow(/clientCertificate\.privateKey\.secretReference names no Secret/);
  });

  test('names broken fields and never prints their content', async () => {
    const secretText = 'very secret words';
    const broken = configure({ caCertificate: inline(secretText), caKey: inline(secretText), key: inline(secretText) });
    await expect(broken).rejects.toMatchObject({ reason: 'CredentialsInvalid' });
    await expect(broken).rejects.toThrow(
      /certificateAuthority\.certificate.*certificateAuthority\.privateKey.*clientCertificate\.privateKey/s,
    );
    await expect(broken).rejects.not.toThrow(secretText);
  });

  test('refuses a key that does not belong to its certificate', async () => {
    await expect(configure({ key: inline(ca.key) })).rejects.toThrow(/clientCertificate\.privateKey does not belong/);
    await expect(configure({ caKey: inline(client.key) })).rejects.toThrow(
      /certificateAuthority\.privateKey belongs to no certificate/,
    );
  });

  test('refuses a certificate as CA that may not sign certificates', async () => {
    const leaf = configure({ caCertificate: inline(client.certificate), caKey: inline(client.key) });
    await expect(leaf).rejects.toThrow(/is not a CA certificate/);
  });

  test('refuses endpoints that are not host:port', async () => {
    const endpoints = etcdDriver.configure(store({}, ['https://etcd-0:2379', 'etcd-0', 'etcd-0:70000']), noSecrets);
    await expect(endpoints).rejects.toThrow(/endpoints\[0\].*scheme.*endpoints\[1\].*endpoints\[2\].*1-65535/s);
  });

  test.each(['pkcs8', 'sec1'] as const)('reads keys in %s', async (type) => {
    const key = createPrivateKey(client.key).export({ type, format: 'pem' }).toString();
    await expect(configure({ key: inline(key) })).resolves.toBeDefined();
  });

  test('finds the CA that its key belongs to in a bundle, in any order', async () => {
    const config = await configure({ caCertificate: inline(otherCa.certificate + ca.certificate) });
    const tls = await etcdDriver.clientTls(config, tenancy, undefined, now);
    expect(new X509Certificate(tls?.certificate ?? '').verify(new X509Certificate(ca.certificate).publicKey)).toBe(
      true,
    );
    expect(tls?.ca).toBe(otherCa.certificate + ca.certificate);
  });
});

describe('bind', () => {
  test('returns https URLs of all endpoints and the prefix of the schema', async () => {
    const config = await etcdDriver.configure(store({}, ['etcd-0:2379', '[fd00::1]:2379']), noSecrets);
    expect(etcdDriver.bind(config, tenancy)).toEqual({
      kind: 'etcd',
      endpoints: ['https://etcd-0:2379', 'https://[fd00::1]:2379'],
      prefix: '/alpha',
    });
  });
});

describe('clientTls', () => {
  test('issues a certificate for client authentication, valid for a year', async () => {
    const tls = await etcdDriver.clientTls(await configure(), tenancy, undefined, now);
    const certificate = new X509Certificate(tls?.certificate ?? '');
    expect(certificate.subject).toBe('CN=alpha-user');
    expect(certificate.keyUsage).toEqual(['1.3.6.1.5.5.7.3.2']);
    expect(certificate.validToDate.getTime() - now.getTime()).toBe(365 * day);
  });

  test('keeps a valid certificate; renews it in its last month, and for another CA, another user or a broken key', async () => {
    const config = await configure();
    const first = await etcdDriver.clientTls(config, tenancy, undefined, now);
    const later = (days: number): Date => new Date(now.getTime() + days * day);
    const again = (at: Date, over: Partial<Tenancy> = {}, current = first): Promise<unknown> =>
      etcdDriver.clientTls(config, { ...tenancy, ...over }, current, at);
    await expect(again(later(300))).resolves.toEqual(first);
    await expect(again(later(336))).resolves.not.toMatchObject({ certificate: first?.certificate });
    await expect(again(now, { user: 'else' })).resolves.not.toMatchObject({ certificate: first?.certificate });
    await expect(
      again(now, {}, { ca: ca.certificate, certificate: first?.certificate ?? '', key: 'broken' }),
    ).resolves.not.toMatchObject({
      certificate: first?.certificate,
    });
    const otherConfig = await configure({ caCertificate: inline(otherCa.certificate), caKey: inline(otherCa.key) });
    await expect(etcdDriver.clientTls(otherConfig, tenancy, first, now)).resolves.not.toMatchObject({
      certificate: first?.certificate,
    });
  });

  test('keeps the key pair and passes on a CA bundle that has grown', async () => {
    const first = await etcdDriver.clientTls(await configure(), tenancy, undefined, now);
    const grown = await configure({ caCertificate: inline(ca.certificate + otherCa.certificate) });
    await expect(etcdDriver.clientTls(grown, tenancy, first, now)).resolves.toEqual({
      ...first,
      ca: ca.certificate + otherCa.certificate,
    });
  });

  test('never exceeds the lifetime of its CA, is not renewed needlessly then, and reports an expired CA', async () => {
    const lifetime = lifetimeFrom(now, 20 * day);
    const short = await issueCa({ commonName: 'short', usages: [] }, { algorithm: 'ECDSA-P256', lifetime });
    const config = await configure({ caCertificate: inline(short.certificate), caKey: inline(short.key) });
    const first = await etcdDriver.clientTls(config, tenancy, undefined, now);
    expect(new X509Certificate(first?.certificate ?? '').validToDate).toEqual(lifetime.notAfter);
    await expect(etcdDriver.clientTls(config, tenancy, first, new Date(now.getTime() + day))).resolves.toEqual(first);
    const late = etcdDriver.clientTls(config, tenancy, first, new Date(now.getTime() + 21 * day));
    await expect(late).rejects.toThrow(/certificateAuthority\.certificate expired at 2030-06-21/);
  });
});

describe('prefixRange', () => {
  test('contains exactly the keys that begin with the prefix', () => {
    const bytes = fc.uint8Array({ minLength: 1, maxLength: 6 });
    fc.assert(
      fc.property(bytes, bytes, fc.boolean(), (prefixBytes, rest, related) => {
        fc.pre(prefixBytes.some((byte) => byte !== 0xff));
        const prefix = Buffer.from(prefixBytes);
        const key = related ? Buffer.concat([prefix, rest]) : Buffer.from(rest);
        const { start, end } = prefixRange(prefix);
        const inside = Buffer.compare(start, key) <= 0 && Buffer.compare(key, end) < 0;
        expect(inside).toBe(key.subarray(0, prefix.length).equals(prefix));
      }),
    );
  });

  test('ends at the byte after the slash, so that neighboring tenancies are outside', () => {
    const { start, end } = tenancyRange('a');
    expect([start.toString(), end.toString()]).toEqual(['/a/', '/a0']);
    for (const neighbor of ['/a', '/a-', '/a-/x', '/a.', '/a0', '/a0/x', '/aa/x', '/b/x', '/A/x', '/\0']) {
      const key = Buffer.from(neighbor);
      expect(Buffer.compare(start, key) <= 0 && Buffer.compare(key, end) < 0).toBe(false);
    }
  });
});

describe('isSupportedEtcd', () => {
  test.each(['3.6.14', '3.6.16', '3.7.1', '3.8.0', '4.0.0'])('accepts %s', (version) => {
    expect(isSupportedEtcd(version)).toBe(true);
  });
  test.each(['3.5.33', '3.6.13', '3.6.14-rc.0', '3.7.0', '3.7.1-rc.0', '', 'latest'])('refuses %j', (version) => {
    expect(isSupportedEtcd(version)).toBe(false);
  });
});
