import { beforeAll, describe, expect, test } from '@jest/globals';
import { createPrivateKey } from 'node:crypto';
import { storedMeta } from '../api/as-stored.ts';
import type { ContentRef, DataStore } from '../api/steward/v1alpha1/data-store.ts';
import type { KeyPair } from '../kubeadm/pki/key-pair.ts';
import { clientPair, serverCa } from '../testing/servers/server-certificates.ts';
import { loginChecksum, readLoginConfig } from './login-config.ts';
import type { ReadSecret } from './driver.ts';

const noSecrets: ReadSecret = () => Promise.resolve(undefined);
const inline = (text: string): ContentRef => ({ content: Buffer.from(text).toString('base64') });
const secret = (keyPath: string): ContentRef => ({ secretReference: { name: 'login', namespace: 'stores', keyPath } });

let ca: KeyPair;
let client: KeyPair;

beforeAll(async () => {
  ca = await serverCa('ca');
  client = await clientPair(ca, 'operator');
});

type Spec = DataStore['spec'];

function store(over: Partial<Spec> = {}): DataStore {
  const basicAuth = { username: inline('root'), password: inline('very secret words') };
  return {
    apiVersion: 'steward.butlerlabs.dev/v1alpha1',
    kind: 'DataStore',
    metadata: storedMeta({ name: 'db' }),
    spec: { driver: 'MySQL', endpoints: ['db-0:3306'], basicAuth, ...over },
  };
}

const tlsConfig = (over: Partial<NonNullable<Spec['tlsConfig']>> = {}): NonNullable<Spec['tlsConfig']> => ({
  certificateAuthority: { certificate: inline(ca.certificate) },
  ...over,
});

describe('readLoginConfig', () => {
  test('reads endpoints, user and password, and needs no TLS', async () => {
    const config = await readLoginConfig(store({ endpoints: ['db-0:3306', '[fd00::1]:1'] }), noSecrets);
    expect(config).toEqual({
      endpoints: [
        { name: 'db-0:3306', host: 'db-0', port: 3306 },
        { name: '[fd00::1]:1', host: 'fd00::1', port: 1 },
      ],
      username: 'root',
      password: 'very secret words',
    });
  });

  test('reads Secrets and inline content alike, and both give one checksum', async () => {
    const data: Record<string, string> = { username: 'root', password: 'very secret words', 'ca.crt': ca.certificate };
    const read: ReadSecret = ({ key }) => Promise.resolve(Buffer.from(data[key] ?? ''));
    const bySecret = await readLoginConfig(
      store({
        basicAuth: { username: secret('username'), password: secret('password') },
        tlsConfig: { certificateAuthority: { certificate: secret('ca.crt') } },
      }),
      read,
    );
    const byContent = await readLoginConfig(store({ tlsConfig: tlsConfig() }), noSecrets);
    expect(bySecret).toEqual(byContent);
    expect(loginChecksum(bySecret)).toBe(loginChecksum(byContent));
  });

  test('accepts a client certificate with its key, and refuses a key that does not belong to it', async () => {
    const clientCertificate = { certificate: inline(client.certificate), privateKey: inline(client.key) };
    const config = await readLoginConfig(store({ tlsConfig: tlsConfig({ clientCertificate }) }), noSecrets);
    const key = createPrivateKey(client.key).export({ type: 'pkcs8', format: 'pem' });
    expect(config.tls).toEqual({ ca: ca.certificate, client: { certificate: client.certificate, key } });
    const swapped = { ...clientCertificate, privateKey: inline(ca.key) };
    await expect(
      readLoginConfig(store({ tlsConfig: tlsConfig({ clientCertificate: swapped }) }), noSecrets),
    ).rejects.toThrow(/clientCertificate\.privateKey does not belong/);
  });

  test('reports every missing or broken field at once, and prints no content', async () => {
    const broken = readLoginConfig(
      store({
        endpoints: ['mysql://db:3306'],
        basicAuth: { username: secret('username'), password: inline('very secret words') },
        tlsConfig: { certificateAuthority: { certificate: inline('very secret words') } },
      }),
      noSecrets,
    );
    await expect(broken).rejects.toMatchObject({ name: 'StoreError', reason: 'CredentialsMissing' });
    await expect(broken).rejects.toThrow(/basicAuth\.username refers to Secret stores\/login.*endpoints\[0\].*scheme/s);
    await expect(broken).rejects.toThrow(/certificateAuthority\.certificate/);
    await expect(broken).rejects.not.toThrow('very secret words');
  });

  test('removes a trailing line break, and refuses an empty text or more than one line', async () => {
    const login = (username: string, password: string): Promise<unknown> =>
      readLoginConfig(store({ basicAuth: { username: inline(username), password: inline(password) } }), noSecrets);
    expect(await login('root\n', 'very secret words \r\n')).toMatchObject({
      username: 'root',
      password: 'very secret words ',
    });
    await expect(login('\n', 'x')).rejects.toThrow('spec.basicAuth.username is empty');
    for (const broken of ['a\nb', 'a\0', 'a\n\n', '\u0085']) {
      await expect(login('root', broken)).rejects.toThrow(/spec\.basicAuth\.password contains a line break/);
    }
  });

  test('accepts the key of the CA if there is one, and refuses another key', async () => {
    const certificateAuthority = { certificate: inline(ca.certificate), privateKey: inline(ca.key) };
    const config = await readLoginConfig(store({ tlsConfig: { certificateAuthority } }), noSecrets);
    expect(config.tls?.signer?.certificate).toBe(ca.certificate);
    const swapped = { ...certificateAuthority, privateKey: inline(client.key) };
    await expect(readLoginConfig(store({ tlsConfig: { certificateAuthority: swapped } }), noSecrets)).rejects.toThrow(
      /certificateAuthority\.privateKey belongs to no certificate/,
    );
  });

  test('requires user and password', async () => {
    const spec: Spec = { driver: 'MySQL', endpoints: ['db-0:3306'], tlsConfig: tlsConfig() };
    const anonymous = readLoginConfig({ ...store(), spec }, noSecrets);
    await expect(anonymous).rejects.toThrow(/basicAuth\.username is not set.*basicAuth\.password is not set/s);
  });
});

describe('loginChecksum', () => {
  test('differs for every part', async () => {
    const base = await readLoginConfig(store({ tlsConfig: tlsConfig() }), noSecrets);
    const others = [
      { ...base, username: 'x' },
      { ...base, password: 'x' },
      { ...base, endpoints: [] },
      { ...base, tls: { ca: 'x' } },
      { ...base, tls: { ca: ca.certificate, client: { certificate: 'x', key: 'y' } } },
      { ...base, tls: { ca: ca.certificate, signer: { certificate: 'x', key: 'y' } } },
    ];
    expect(new Set([base, ...others].map(loginChecksum)).size).toBe(7);
  });
});
