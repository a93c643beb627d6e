import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import forge from 'node-forge';
import { X509Certificate } from 'node:crypto';
import { createSecureContext } from 'node:tls';
import { storedMeta } from '../../api/as-stored.ts';
import { kinds } from '../../api/core/kinds.ts';
import { capiExtensionConfig } from '../../api/cluster-api/kinds.ts';
import type { Resource } from '../../api/meta.ts';
import { FakeClock, settle } from '../../testing/fake/fake-clock.ts';
import { FakeCluster } from '../../testing/fake/fake-cluster.ts';
import type { ServingPair } from '../admission/admission-server.ts';
import { ApiError, UnreachableError } from '../client/errors.ts';
import { extensionConfigPatch } from '../admission/extension-client-config.ts';
import { InformerFactory } from '../cache/informer-factory.ts';
import { silent } from '../observe/logger.ts';
import { ServingCertificates, type ServingCertificatesOptions } from './serving-certificates.ts';
import { defaultServingLife, makeServingMaterial, whyNotServing } from './serving-pair.ts';
import { clientConfigPatch, type WebhookConfiguration } from '../admission/webhook-client-config.ts';

const day = 24 * 3600_000;
const names = { dnsNames: ['steward-webhook-service.steward-system.svc'], ipAddresses: ['10.0.0.7'] };
const secretKey = { namespace: 'steward-system', name: 'steward-webhook-server-cert' };
let clock: FakeClock;
let cluster: FakeCluster;
let informers: InformerFactory;
let stop: AbortController;
let running: Promise<void>[];

beforeEach(() => {
  clock = new FakeClock();
  cluster = new FakeCluster({ now: () => clock.now().getTime() });
  informers = new InformerFactory({ cluster: cluster.admin, clock, random: () => 0.5 });
  stop = new AbortController();
  running = [];
});
afterEach(async () => {
  stop.abort(new Error('over'));
  await Promise.all(running);
  await informers.close();
});

const replica = (over: Partial<ServingCertificatesOptions> = {}): ServingCertificates =>
  new ServingCertificates({
    cluster,
    informers,
    clock,
    log: silent,
    secret: secretKey,
    names,
    mutating: ['ours'],
    validating: ['ours'],
    ...over,
  });
const run = (certificates: ServingCertificates): ServingPair[] => {
  const shown: ServingPair[] = [];
  running.push(certificates.run((pair) => shown.push(pair), stop.signal));
  return shown;
};
const webhooks = (path: string): unknown => [
  {
    name: 'a.kb.io',
    clientConfig: { service: { name: 's', namespace: 'n', path } },
    sideEffects: 'None',
    admissionReviewVersions: ['v1'],
  },
];
const seedConfigurations = async (): Promise<void> => {
  for (const name of ['ours', 'theirs']) {
    await cluster.seed(kinds.MutatingWebhookConfiguration, {
      ...{ webhooks: webhooks('/mutate') },
      apiVersion: 'admissionregistration.k8s.io/v1',
      kind: 'MutatingWebhookConfiguration',
      metadata: { name },
    });
    await cluster.seed(kinds.ValidatingWebhookConfiguration, {
      ...{ webhooks: webhooks('/validate') },
      apiVersion: 'admissionregistration.k8s.io/v1',
      kind: 'ValidatingWebhookConfiguration',
      metadata: { name },
    });
  }
};
const bundleOf = async (name: string): Promise<string | undefined> => {
  const found = await cluster.admin.get(kinds.MutatingWebhookConfiguration, { name });
  const caBundle = found?.webhooks?.[0]?.clientConfig.caBundle;
  return caBundle === undefined ? undefined : Buffer.from(caBundle, 'base64').toString();
};
const stored = async (): Promise<Record<string, string>> => {
  const secret = await cluster.admin.get(kinds.Secret, secretKey);
  return Object.fromEntries(
    Object.entries(secret?.data ?? {}).map(([key, value]) => [key, Buffer.from(value, 'base64').toString()]),
  );
};
const authorities = (pem: string | undefined): number => pem?.split('BEGIN CERTIFICATE').length ?? 1;

describe('A serving certificate', () => {
  test('is a chain that other readers accept, for all names, with a CA that can sign nothing else', async () => {
    const now = new Date('2030-01-01T00:00:00Z');
    const material = await makeServingMaterial({ names, life: defaultServingLife, now });
    const leaf = new X509Certificate(material.certificate);
    const authority = new X509Certificate(material.bundle);
    expect(leaf.checkIssued(authority) && leaf.verify(authority.publicKey)).toBe(true);
    expect([authority.ca, leaf.ca]).toEqual([true, false]);
    expect(leaf.subjectAltName).toBe(`DNS:${names.dnsNames[0] ?? ''}, IP Address:10.0.0.7`);
    expect(() => createSecureContext({ cert: material.certificate, key: material.key })).not.toThrow();
    expect(forge.pem.decode(material.key)[0]?.type).toBe('PRIVATE KEY');
    expect(whyNotServing(material, { names, life: defaultServingLife, now })).toBeUndefined();
  });

  test.each<[string, (m: Record<string, string>) => Record<string, string>, string]>([
    ['empty', () => ({}), 'a part of it is missing'],
    ['broken by hand', (m) => ({ ...m, certificate: 'x' }), 'a certificate cannot be read'],
    ['of a broken key', (m) => ({ ...m, key: 'x' }), 'the key does not match the certificate'],
    ['of another CA', (m) => ({ ...m, bundle: m.certificate ?? '' }), 'no CA of the bundle signed it'],
  ])('that is %s is not used', async (_, change, why) => {
    const now = new Date('2030-01-01T00:00:00Z');
    const material = await makeServingMaterial({ names, life: defaultServingLife, now });
    expect(whyNotServing(change({ ...material }), { names, life: defaultServingLife, now })).toContain(why);
  });

  test('is not used for other names, before its validity or near its end', async () => {
    const now = new Date('2030-01-01T00:00:00Z');
    const material = await makeServingMaterial({ names, life: defaultServingLife, now });
    const why = (at: number, over = names): string | undefined =>
      whyNotServing(material, { names: over, life: defaultServingLife, now: new Date(now.getTime() + at) });
    expect(why(0, { dnsNames: ['other.svc'], ipAddresses: ['10.0.0.8'] })).toBe(
      'it is not valid for other.svc, 10.0.0.8',
    );
    expect(why(-2 * 3600_000)).toContain('not valid before');
    expect(why(59 * day)).toBeUndefined();
    expect(why(60 * day)).toContain('it expires at');
  });
});

describe('Serving certificates', () => {
  test('are issued, stored, and trusted by the named configurations only', async () => {
    await seedConfigurations();
    const pair = await replica().ensure();
    const data = await stored();
    expect(pair).toEqual({ certificate: data['tls.crt'], key: data['tls.key'] });
    expect(await bundleOf('ours')).toBe(data['ca.crt']);
    expect(await bundleOf('theirs')).toBeUndefined();
  });

  test('are the same for all replicas, whichever is first', async () => {
    await seedConfigurations();
    const pairs = await Promise.all(Array.from({ length: 5 }, () => replica().ensure()));
    expect(new Set(pairs.map(({ certificate }) => certificate)).size).toBe(1);
    expect(await bundleOf('ours')).toBe((await stored())['ca.crt']);
  });

  test('are kept while they are valid, without a write', async () => {
    await seedConfigurations();
    await replica().ensure();
    const before = cluster.calls.length;
    await replica().ensure();
    expect(cluster.calls.slice(before).map(({ verb }) => verb)).toEqual(['get', 'get', 'get']);
  });

  test('are rotated in time on all replicas: the new CA is trusted before it is used, and the previous one stays trusted', async () => {
    await seedConfigurations();
    const hour = 3600_000;
    const life = { validMs: 30 * hour, renewBeforeMs: 10 * hour };
    const [a, b] = [replica({ life }), replica({ life })];
    const first = await a.ensure();
    await b.ensure();
    const shown = [run(a), run(b)];
    const order: string[] = [];
    cluster.after(({ verb, kind }) => {
      if (verb === 'patch') order.push(kind?.kind ?? '');
    });
    for (let at = 0; at < 20; at += 1) await clock.advance(hour);
    await settleAll();
    await clock.advance(20_000);
    await settleAll();
    expect(shown.map((pairs) => pairs.length)).toEqual([1, 1]);
    expect(shown[0]?.[0]).toEqual(shown[1]?.[0]);
    expect(shown[0]?.[0]?.certificate).not.toBe(first.certificate);
    expect(order[0]).toBe('Secret');
    expect(authorities(await bundleOf('ours'))).toBe(3);
    const old = new X509Certificate(first.certificate);
    const kept = (await bundleOf('ours'))?.match(/-----BEGIN[^-]*-----[^-]*-----END[^-]*-----/g) ?? [];
    expect(kept.some((pem) => old.verify(new X509Certificate(pem).publicKey))).toBe(true);
    for (let at = 0; at < 21; at += 1) await clock.advance(hour);
    await settleAll();
    expect(authorities(await bundleOf('ours'))).toBe(3);
    expect([a.health.check(), b.health.check()]).toEqual([undefined, undefined]);
  });

  test('are repaired if a person breaks the Secret or removes the trust', async () => {
    await seedConfigurations();
    const certificates = replica();
    await certificates.ensure();
    const shown = run(certificates);
    await clock.advance(1000);
    await cluster.admin.patch(kinds.Secret, secretKey, { type: 'merge', body: { data: { 'tls.key': 'eA==' } } });
    await settleAll();
    await clock.advance(11_000);
    await settleAll();
    expect(shown).toHaveLength(1);
    await cluster.admin.patch(
      kinds.MutatingWebhookConfiguration,
      { name: 'ours' },
      { type: 'merge', body: { webhooks: webhooks('/mutate') } },
    );
    await settleAll();
    expect(await bundleOf('ours')).toBe((await stored())['ca.crt']);
  });

  test('are issued before configurations exist, and trusted when they appear', async () => {
    const certificates = replica();
    await certificates.ensure();
    run(certificates);
    await clock.advance(1000);
    await seedConfigurations();
    await settleAll();
    expect(await bundleOf('ours')).toBe((await stored())['ca.crt']);
  });

  test('are used while configurations of an optional part may not be read, and trusted by these as soon as they may', async () => {
    await seedConfigurations();
    const certificates = replica({ optional: { mutating: ['theirs'], validating: ['theirs'] } });
    const forbidden = new ApiError(403, 'Forbidden', 'may not get theirs');
    let isForbidden = true;
    cluster.before(({ verb, name }) => {
      if (verb === 'get' && name === 'theirs' && isForbidden) throw forbidden;
    });
    await certificates.ensure();
    run(certificates);
    await settleAll();
    expect(certificates.health.check()).toBeUndefined();
    expect(certificates.optionalTrouble).toContain('may not get theirs');
    expect(await bundleOf('ours')).toBe((await stored())['ca.crt']);
    isForbidden = false;
    await clock.advance(30_000);
    await settleAll();
    expect(certificates.optionalTrouble).toBeUndefined();
    expect(await bundleOf('theirs')).toBe((await stored())['ca.crt']);
  });

  test('are retried while the API server is down, which health reports', async () => {
    const certificates = replica();
    cluster.failNext({ verb: 'get', kind: 'Secret' }, new UnreachableError('connection refused'));
    const shown = run(certificates);
    await settleAll();
    expect(certificates.health.check()).toBe('connection refused');
    await clock.advance(5_000);
    await settleAll();
    expect(certificates.health.check()).toBeUndefined();
    expect(shown).toHaveLength(0);
  });
});

describe('Another client of the serving certificates', () => {
  const further = [
    {
      kind: capiExtensionConfig,
      name: 'ours',
      patch: (object: Resource, client: { readonly bundle: string }) => extensionConfigPatch(object, client),
    },
  ];
  const seedExtension = (): Promise<Resource> =>
    cluster.seed(capiExtensionConfig, {
      apiVersion: 'runtime.cluster.x-k8s.io/v1beta2',
      kind: 'ExtensionConfig',
      metadata: { name: 'ours' },
      spec: { clientConfig: { service: { name: 's', namespace: 'n' } } },
    });
  const trusted = async (): Promise<string | undefined> => {
    const { spec } = (await cluster.admin.get(capiExtensionConfig, { name: 'ours' })) ?? {};
    const { caBundle } = spec?.clientConfig ?? {};
    return caBundle === undefined ? undefined : Buffer.from(caBundle, 'base64').toString();
  };

  test('is given the CA, whether it exists before or appears later', async () => {
    await seedConfigurations();
    const certificates = replica({ further });
    await certificates.ensure();
    run(certificates);
    await clock.advance(1000);
    await seedExtension();
    await settleAll();
    expect(await trusted()).toBe((await stored())['ca.crt']);
  });

  test('that cannot be updated does not prevent serving, and is updated later', async () => {
    await seedConfigurations();
    await seedExtension();
    let isAway = true;
    const patch: (typeof further)[0]['patch'] = (object, client) => {
      if (isAway) throw new UnreachableError('its webhook is away');
      return extensionConfigPatch(object, client);
    };
    const warnings: string[] = [];
    const log = { ...silent, warn: (message: string) => void warnings.push(message) };
    const certificates = replica({ further: further.map((one) => ({ ...one, patch })), log });
    await certificates.ensure();
    expect(await bundleOf('ours')).toBe((await stored())['ca.crt']);
    run(certificates);
    await settleAll();
    expect([await trusted(), certificates.health.check()]).toEqual([undefined, undefined]);
    await clock.advance(5_000);
    await settleAll();
    expect(warnings).toEqual(['the CA bundle of a configuration cannot be updated; trying again']);
    isAway = false;
    await clock.advance(5_000);
    await settleAll();
    expect(await trusted()).toBe((await stored())['ca.crt']);
  });
});

/** Keys are made on the thread pool: let it come to its end. */
const settleAll = async (): Promise<void> => {
  for (let n = 0; n < 20; n += 1) {
    await makeServingMaterial({ names, life: defaultServingLife, now: clock.now() });
    await settle();
    await clock.advance(0);
  }
};

describe('The client of a webhook configuration', () => {
  const configuration: WebhookConfiguration = {
    apiVersion: 'admissionregistration.k8s.io/v1',
    kind: 'ValidatingWebhookConfiguration',
    metadata: storedMeta({ name: 'ours' }),
    webhooks: [
      { name: 'a', clientConfig: { service: { path: '/validate-a' } } },
      { name: 'b', clientConfig: { url: 'https://old:1/validate-b', caBundle: 'x' } },
    ],
  };

  test('is a URL that keeps the paths if the manager runs outside of the cluster', () => {
    const caBundle = Buffer.from('PEM').toString('base64');
    expect(clientConfigPatch(configuration, { bundle: 'PEM', url: 'https://10.0.0.1:9443' })).toEqual({
      type: 'json',
      body: [
        { op: 'test', path: '/webhooks/0/name', value: 'a' },
        {
          op: 'replace',
          path: '/webhooks/0/clientConfig',
          value: { url: 'https://10.0.0.1:9443/validate-a', caBundle },
        },
        { op: 'test', path: '/webhooks/1/name', value: 'b' },
        {
          op: 'replace',
          path: '/webhooks/1/clientConfig',
          value: { url: 'https://10.0.0.1:9443/validate-b', caBundle },
        },
      ],
    });
  });

  test('is not written if it is up to date', () => {
    const caBundle = Buffer.from('PEM').toString('base64');
    const right = { ...configuration, webhooks: [{ name: 'a', clientConfig: { service: { path: '/x' }, caBundle } }] };
    expect(clientConfigPatch(right, { bundle: 'PEM' })).toBeUndefined();
    expect(clientConfigPatch({ ...configuration, webhooks: [] }, { bundle: 'PEM' })).toBeUndefined();
  });
});
