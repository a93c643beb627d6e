import { beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import { clusterNameLabel, clusterSecretType } from '../../../api/cluster-api/names.ts';
import { suppliedSecretName } from '../../../api/cluster-api/supplied-secrets.ts';
import type { SuppliedPurpose } from '../../../api/cluster-api/supplied-secrets.ts';
import { kinds } from '../../../api/core/kinds.ts';
import type { Secret } from '../../../api/core/kinds.ts';
import { parseKubeconfig } from '../../../kubeadm/kubeconfig.ts';
import { issue, issueCa, issueServiceAccountKeys } from '../../../kubeadm/pki/issue.ts';
import type { KeyPair } from '../../../kubeadm/pki/key-pair.ts';
import { lifetimeFrom } from '../../../kubeadm/pki/lifetime.ts';
import { UnreachableError } from '../../../runtime/client/errors.ts';
import {
  isTrusted,
  operate,
  rotationOf,
  secretValues,
  settleRotation,
} from '../../../testing/worlds/rotating-tenant.ts';
import { suppliedSecret } from '../../../testing/builders/supplied-secret.ts';
import { tenantShape, untilDeath } from '../../../testing/worlds/tenant-shape.ts';
import { TenantWorld } from '../../../testing/worlds/tenant-world.ts';
import { crashPoints } from '../../../testing/worlds/crash-points.ts';

const cluster = 'my-cluster';
const purposes = ['ca', 'proxy', 'sa'] as const;
const tenantSuffix = { ca: 'ca', proxy: 'front-proxy-ca-certificate', sa: 'sa-certificate' } as const;
const tenantKeys = {
  ca: ['ca.crt', 'ca.key'],
  proxy: ['front-proxy-ca.crt', 'front-proxy-ca.key'],
  sa: ['sa.pub', 'sa.key'],
} as const;

type Pairs = Readonly<Record<SuppliedPurpose, KeyPair>>;

let pairs: Pairs;
let successor: KeyPair;

/** The worlds of this file begin in 2030. */
beforeAll(async () => {
  const lifetime = lifetimeFrom(new Date('2030-01-01T00:00:00Z'), 5 * 365 * 24 * 60 * 60 * 1000);
  const authority = (commonName: string) =>
    issueCa({ commonName, ca: true, usages: [] }, { algorithm: 'ECDSA-P256', lifetime });
  const { publicKey, privateKey } = await issueServiceAccountKeys('ECDSA-P256');
  pairs = {
    ca: await authority('Example Corp CA'),
    proxy: await authority('Example Corp Proxy CA'),
    sa: { certificate: publicKey, key: privateKey },
  };
  successor = await authority('Example Corp CA 2');
});

/** Supplies Secrets for a Cluster, as kubectl does. */
async function supply(
  world: TenantWorld,
  given: Partial<Pairs>,
  { of = cluster, ...changes }: Parameters<typeof suppliedSecret>[2] & { readonly of?: string } = {},
): Promise<void> {
  for (const purpose of purposes) {
    const pair = given[purpose];
    if (pair === undefined) continue;
    await world.cluster.seed(kinds.Secret, suppliedSecret({ cluster: of, purpose }, pair, changes));
  }
}

const suppliedNow = (world: TenantWorld, purpose: SuppliedPurpose, of = cluster): Promise<Secret | undefined> =>
  world.cluster.admin.get(kinds.Secret, { namespace: 'default', name: suppliedSecretName(of, purpose) });

async function pairNow(world: TenantWorld, purpose: SuppliedPurpose): Promise<KeyPair> {
  const values = await secretValues(world, tenantSuffix[purpose]);
  const [certificate, key] = tenantKeys[purpose];
  return { certificate: values[certificate] ?? '', key: values[key] ?? '' };
}

/** Settles a new tenant; how many calls it took until its roots were written, the few included that take over what was there. */
async function callsToRoots(world: TenantWorld): Promise<number> {
  await world.settle();
  const roots: readonly string[] = purposes.map((purpose) => `tenant-${tenantSuffix[purpose]}`);
  const last = world.cluster.calls.findLastIndex(({ verb, name = '' }) => verb === 'create' && roots.includes(name));
  expect(last).toBeGreaterThan(5);
  return last + 5;
}

/** A manager that dies at any of its calls comes to the objects of one that does not, with the pairs that were supplied. */
async function survivesAnyDeath(
  created: () => Promise<TenantWorld>,
  supplied: readonly SuppliedPurpose[],
): Promise<void> {
  const model = await created();
  const total = await callsToRoots(model);
  const expected = await tenantShape(model);
  for (const calls of crashPoints(total, 'user-supplied CA')) {
    const one = await created();
    one.cluster.crashAfter(calls, { losesAnswer: true });
    await untilDeath(one);
    one.restart();
    await one.settle();
    expect({ calls, shape: await tenantShape(one) }).toEqual({ calls, shape: expected });
    for (const purpose of supplied) expect(await pairNow(one, purpose)).toEqual(pairs[purpose]);
  }
}

describe('User-supplied CAs and keys', () => {
  let world: TenantWorld;

  beforeEach(() => {
    world = new TenantWorld();
    world.clusterName = cluster;
  });

  test('are used byte by byte if they exist before the control plane, and stay as they are', async () => {
    await supply(world, pairs);
    const before = await Promise.all(purposes.map((purpose) => suppliedNow(world, purpose)));
    await world.create();
    await world.settle();
    for (const purpose of purposes) expect(await pairNow(world, purpose)).toEqual(pairs[purpose]);
    expect(await Promise.all(purposes.map((purpose) => suppliedNow(world, purpose)))).toEqual(before);
    expect((await world.secret('ca'))?.metadata.ownerReferences?.map(({ kind }) => kind)).toEqual([
      'TenantControlPlane',
    ]);
    const { ca, client } = parseKubeconfig((await secretValues(world, 'admin-kubeconfig'))['admin.conf'] ?? '');
    expect(ca).toBe(pairs.ca.certificate);
    expect(isTrusted(client.certificate, pairs.ca.certificate)).toBe(true);
    expect(await world.condition('Ready')).toBe('True');
    expect(world.events.filter((event) => event.startsWith('SuppliedCAUsed'))).toHaveLength(3);
  });

  test.each(purposes)('may be incomplete: with only its %s supplied, the others are generated', async (purpose) => {
    await supply(world, { [purpose]: pairs[purpose] });
    await world.create();
    await world.settle();
    expect(await pairNow(world, purpose)).toEqual(pairs[purpose]);
    for (const other of purposes) if (other !== purpose) expect(await pairNow(world, other)).not.toEqual(pairs[other]);
    expect(await world.condition('Ready')).toBe('True');
  });

  test('are not used without the label of their Cluster, which is reported', async () => {
    await supply(world, { ca: pairs.ca }, { metadata: { name: `${cluster}-ca`, namespace: 'default', labels: {} } });
    await world.create();
    await world.settle();
    expect(await pairNow(world, 'ca')).not.toEqual(pairs.ca);
    expect(await world.condition('Ready')).toBe('True');
    const told = world.events.filter((event) => event.startsWith('SuppliedCAIgnored'));
    expect(new Set(told)).toEqual(
      new Set([expect.stringMatching(/Secret my-cluster-ca .* the label cluster\.x-k8s\.io/)]),
    );
  });

  test('are the same after a crash at any call', async () => {
    const created = async (): Promise<TenantWorld> => {
      const one = new TenantWorld();
      one.clusterName = cluster;
      await supply(one, pairs);
      await one.create();
      return one;
    };
    await survivesAnyDeath(created, purposes);
  }, 300_000);

  test('that are unusable block the creation until they are fixed', async () => {
    await supply(world, { ...pairs, ca: { ...pairs.ca, key: pairs.proxy.key } });
    await world.create();
    await world.settle();
    expect(await world.condition('CertificatesReady')).toMatch(
      /^False SuppliedSecretInvalid: Secret my-cluster-ca .*private key does not belong.*correct it, or delete it/,
    );
    for (const purpose of purposes) expect(await world.secret(tenantSuffix[purpose])).toBeUndefined();
    await supply(world, pairs);
    await world.settle();
    for (const purpose of purposes) expect(await pairNow(world, purpose)).toEqual(pairs[purpose]);
    expect(await world.condition('Ready')).toBe('True');
  });

  test('with one key for CA and front proxy are refused', async () => {
    await supply(world, { ca: pairs.ca, proxy: pairs.ca });
    await world.create();
    await world.settle();
    expect(await world.condition('CertificatesReady')).toMatch(/my-cluster-ca and my-cluster-proxy .*the same key/);
    expect(await world.secret('ca')).toBeUndefined();
  });

  test.each([
    ['CA', 'proxy', 'ca'],
    ['front-proxy CA', 'ca', 'proxy'],
  ] as const)('of which the %s signed the other are refused', async (_name, lower, upper) => {
    const lifetime = lifetimeFrom(new Date('2030-01-01T00:00:00Z'), 5 * 365 * 24 * 60 * 60 * 1000);
    const profile = { commonName: 'Example Corp below', ca: true, usages: [] };
    const below = await issue(profile, pairs[upper], { algorithm: 'ECDSA-P256', lifetime });
    await supply(world, { [upper]: pairs[upper], [lower]: below });
    await world.create();
    await world.settle();
    expect(await world.condition('CertificatesReady')).toMatch(
      /^False SuppliedSecretInvalid: Secrets my-cluster-ca and my-cluster-proxy .*one CA signed by the other/,
    );
    expect(await world.secret('ca')).toBeUndefined();
  });

  test('have no effect if the tenant has its own already', async () => {
    await world.create();
    await world.settle();
    const before = await Promise.all(purposes.map((purpose) => pairNow(world, purpose)));
    await supply(world, pairs);
    world.restart();
    await world.settle();
    expect(await Promise.all(purposes.map((purpose) => pairNow(world, purpose)))).toEqual(before);
    expect(await world.condition('Ready')).toBe('True');
  });

  test('are not used by a tenant that does not belong to that Cluster, whatever it claims', async () => {
    world.clusterName = undefined;
    await supply(world, pairs);
    const owner = { apiVersion: 'controlplane.cluster.x-k8s.io/v1alpha2', kind: 'StewardControlPlane', name: 'tenant' };
    await world.create({
      metadata: {
        ...{ namespace: 'default', name: 'tenant', labels: { [clusterNameLabel]: cluster } },
        ownerReferences: [{ ...owner, uid: 'forged', controller: true }],
      },
    });
    await world.settle();
    for (const purpose of purposes) expect(await pairNow(world, purpose)).not.toEqual(pairs[purpose]);
  });

  test('are rotated to what their author puts beside them, and the supplied Secret is not changed', async () => {
    await supply(world, pairs);
    await world.create();
    await settleRotation(world);
    await operate(world, 'rotate-ca-start');
    expect(await world.condition('Rotating')).toContain('user-supplied CA');
    const base64 = (text: string): string => Buffer.from(text).toString('base64');
    const body = { data: { 'ca-next.crt': base64(successor.certificate), 'ca-next.key': base64(successor.key) } };
    const proxy = await issueCa(
      { commonName: 'Example Corp Proxy CA 2', ca: true, usages: [] },
      { algorithm: 'ECDSA-P256', lifetime: lifetimeFrom(world.clock.now(), 1e10) },
    );
    const proxyBody = {
      data: { 'front-proxy-ca-next.crt': base64(proxy.certificate), 'front-proxy-ca-next.key': base64(proxy.key) },
    };
    const patch = (suffix: string, of: object) =>
      world.cluster.admin.patch(
        kinds.Secret,
        { namespace: 'default', name: `tenant-${suffix}` },
        { type: 'merge', body: of },
      );
    await patch('ca', body);
    await patch('front-proxy-ca-certificate', proxyBody);
    await settleRotation(world);
    expect(await rotationOf(world)).toMatchObject({ phase: 'Prepared' });
    await operate(world, 'rotate-ca-complete');
    expect(await pairNow(world, 'ca')).toEqual(successor);
    expect((await suppliedNow(world, 'ca'))?.data?.['tls.crt']).toBe(base64(pairs.ca.certificate));
  });
});

describe('The CA of a tenant that has the name of its Cluster', () => {
  let world: TenantWorld;

  beforeEach(() => {
    world = new TenantWorld();
    world.clusterName = 'tenant';
  });

  test('has Cluster API’s type from the beginning', async () => {
    await world.create();
    await world.settle();
    expect(await world.secret('ca')).toMatchObject({ type: clusterSecretType });
    for (const other of ['proxy', 'sa'] as const)
      expect(await world.secret(tenantSuffix[other])).toMatchObject({ type: 'Opaque' });
    expect(await world.condition('Ready')).toBe('True');
  });

  test('keeps the type with which it was created', async () => {
    world.clusterName = undefined;
    await world.create();
    await world.settle();
    const before = await pairNow(world, 'ca');
    world.clusterName = 'tenant';
    world.restart();
    await world.settle();
    expect(await world.secret('ca')).toMatchObject({ type: 'Opaque' });
    expect(await pairNow(world, 'ca')).toEqual(before);
    expect(await world.condition('Ready')).toBe('True');
  });

  test.each([clusterSecretType, 'kubernetes.io/tls'])('is the supplied one, of type %s', async (type) => {
    await supply(world, pairs, { of: 'tenant', type });
    const before = await suppliedNow(world, 'ca', 'tenant');
    await world.create();
    await settleRotation(world);
    const after = await world.secret('ca');
    expect(after).toMatchObject({ type, data: before?.data ?? {} });
    expect(after?.metadata.labels).toMatchObject({ [clusterNameLabel]: 'tenant' });
    expect(after?.metadata.ownerReferences?.map(({ kind }) => kind)).toEqual(['TenantControlPlane']);
    for (const purpose of purposes) expect(await pairNow(world, purpose)).toEqual(pairs[purpose]);
    expect(await world.condition('Ready')).toBe('True');
    expect(world.events.filter((event) => event.startsWith('SuppliedCAUsed'))).toHaveLength(3);
  });

  test('is the supplied one after a crash at any call', async () => {
    const created = async (): Promise<TenantWorld> => {
      const one = new TenantWorld();
      one.clusterName = 'tenant';
      await supply(one, { ca: pairs.ca }, { of: 'tenant' });
      await one.create();
      return one;
    };
    await survivesAnyDeath(created, ['ca']);
  }, 300_000);

  test('is rotated in both places of its Secret at once if Steward generated it', async () => {
    await world.create();
    await settleRotation(world);
    const before = await pairNow(world, 'ca');
    await operate(world, 'rotate-ca-start');
    await operate(world, 'rotate-ca-complete');
    const after = await secretValues(world, 'ca');
    expect(after['ca.crt']).not.toBe(before.certificate);
    expect([after['tls.crt'], after['tls.key']]).toEqual([after['ca.crt'], after['ca.key']]);
    expect(await world.secret('ca')).toMatchObject({ type: clusterSecretType });
  });

  test('is not replaced by a pair that another program later writes over the supplied one', async () => {
    await supply(world, { ca: pairs.ca }, { of: 'tenant', type: 'kubernetes.io/tls' });
    await world.create();
    await settleRotation(world);
    const { certificate, key } = successor;
    const [crt, secretKey] = [certificate, key].map((text) => Buffer.from(text).toString('base64'));
    const data = { 'ca.crt': crt, 'tls.crt': crt, 'tls.key': secretKey };
    const name = { namespace: 'default', name: 'tenant-ca' };
    await world.cluster.admin.patch(kinds.Secret, name, { type: 'merge', body: { data } });
    await world.settle();
    expect(await world.condition('CertificatesReady')).toMatch(
      /^False SecretBroken: Secret tenant-ca .*KeyMismatch.*tls.key belongs to another CA/,
    );
    const { ca } = parseKubeconfig((await secretValues(world, 'admin-kubeconfig'))['admin.conf'] ?? '');
    expect(ca).toBe(pairs.ca.certificate);
    expect((await secretValues(world, 'ca'))['ca.key']).toBe(pairs.ca.key);
  });

  test('is read from Cluster API’s keys if its own are lost', async () => {
    await supply(world, { ca: pairs.ca }, { of: 'tenant' });
    await world.create();
    await settleRotation(world);
    const body = { data: { 'ca.crt': null, 'ca.key': null } };
    await world.cluster.admin.patch(kinds.Secret, { namespace: 'default', name: 'tenant-ca' }, { type: 'merge', body });
    await world.settle();
    expect(await pairNow(world, 'ca')).toEqual(pairs.ca);
  });

  test.each<[string, Parameters<typeof suppliedSecret>[2], RegExp]>([
    ['the certificate of another beside it', { data: { 'ca.crt': 'eA==' } }, /another under tls.crt/],
    [
      'a program that renews it',
      { metadata: { annotations: { 'cert-manager.io/certificate-name': 'x' } } },
      /cert-manager.io\/certificate-name.*copy/,
    ],
    ['a mark that nobody may change it', { immutable: true }, /immutable/],
  ])('with %s is not adopted', async (_name, { metadata, ...changes } = {}, why) => {
    const labels = { [clusterNameLabel]: 'tenant' };
    const own = { namespace: 'default', name: 'tenant-ca', labels, ...metadata };
    await supply(world, { ca: pairs.ca }, { of: 'tenant', ...changes, metadata: own });
    const before = await suppliedNow(world, 'ca', 'tenant');
    await world.create();
    await world.settle();
    const told = await world.condition('CertificatesReady');
    expect(told).toMatch(/^False SuppliedSecretInvalid: Secret tenant-ca /);
    expect(told).toMatch(why);
    expect(await suppliedNow(world, 'ca', 'tenant')).toEqual(before);
    expect(world.events.filter((event) => event.startsWith('SuppliedCAUsed'))).toEqual([]);
  });

  test('is reported only once it has been adopted', async () => {
    await supply(world, { ca: pairs.ca }, { of: 'tenant' });
    await world.create();
    const isTaken = ({ verb, name }: { readonly verb: string; readonly name?: string }): boolean =>
      verb === 'apply' && name === 'tenant-ca';
    world.cluster.failNext(isTaken, new UnreachableError('connection refused'), 1);
    const told = (): number => world.events.filter((event) => event.startsWith('SuppliedCAUsed')).length;
    await world.reconcile();
    expect(told()).toBe(0);
    await world.settle();
    expect(told()).toBe(1);
  });

  test('is not changed if it was supplied and is unusable', async () => {
    await supply(world, { ca: { ...pairs.ca, key: pairs.proxy.key } }, { of: 'tenant' });
    const before = await suppliedNow(world, 'ca', 'tenant');
    await world.create();
    await world.settle();
    expect(await world.condition('CertificatesReady')).toMatch(/^False SuppliedSecretInvalid: Secret tenant-ca/);
    expect(await suppliedNow(world, 'ca', 'tenant')).toEqual(before);
  });

  test.each([undefined, 'another'])(
    'is not that of another Cluster: of a tenant for %s it is a conflict',
    async (of) => {
      world.clusterName = of;
      await supply(world, { ca: pairs.ca }, { of: 'tenant' });
      const before = await suppliedNow(world, 'ca', 'tenant');
      await world.create();
      await world.settle();
      expect(await world.condition('CertificatesReady')).toMatch(
        /^False SecretInTheWay: Secret tenant-ca .*delete it, or use another name for the TenantControlPlane/,
      );
      expect(await suppliedNow(world, 'ca', 'tenant')).toEqual(before);
      await world.cluster.admin.delete(kinds.Secret, { namespace: 'default', name: 'tenant-ca' });
      await world.clock.advance(10_000);
      await world.settle();
      expect(await world.condition('Ready')).toBe('True');
      expect(await pairNow(world, 'ca')).not.toEqual(pairs.ca);
    },
  );
});
