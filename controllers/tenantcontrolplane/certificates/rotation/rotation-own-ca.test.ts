import { describe, expect, test } from '@jest/globals';
import { kinds } from '../../../../api/core/kinds.ts';
import { parseKubeconfig } from '../../../../kubeadm/kubeconfig.ts';
import { issueCa, issueServiceAccountKeys } from '../../../../kubeadm/pki/issue.ts';
import type { KeyPair } from '../../../../kubeadm/pki/key-pair.ts';
import { lifetimeFrom } from '../../../../kubeadm/pki/lifetime.ts';
import {
  isTrusted,
  operate,
  rotationOf,
  secretValues,
  settleRotation,
} from '../../../../testing/worlds/rotating-tenant.ts';
import { TenantWorld } from '../../../../testing/worlds/tenant-world.ts';

const year = 365 * 24 * 60 * 60 * 1000;
const algorithm = 'ECDSA-P256';

function authority(world: TenantWorld, commonName: string): Promise<KeyPair> {
  const lifetime = lifetimeFrom(world.clock.now(), 5 * year);
  return issueCa({ commonName, ca: true, usages: [] }, { algorithm, lifetime });
}

function encoded(values: Readonly<Record<string, string>>): Readonly<Record<string, string>> {
  return Object.fromEntries(Object.entries(values).map(([key, value]) => [key, Buffer.from(value).toString('base64')]));
}

/** Writes values into one of the tenant's Secrets as kubectl does. */
async function put(world: TenantWorld, suffix: string, values: Readonly<Record<string, string>>): Promise<void> {
  const body = {
    apiVersion: 'v1',
    kind: 'Secret',
    metadata: { name: `tenant-${suffix}`, namespace: 'default' },
    data: encoded(values),
  };
  await world.cluster.admin.apply(kinds.Secret, body, { fieldManager: 'kubectl' });
}

const pairAs = (name: string, { certificate, key }: KeyPair): Readonly<Record<string, string>> => ({
  [`${name}.crt`]: certificate,
  [`${name}.key`]: key,
});

/** A tenant whose author brought the CA. */
async function withOwn(): Promise<{ readonly world: TenantWorld; readonly own: KeyPair }> {
  const world = new TenantWorld();
  const own = await authority(world, 'Example Corp Tenant CA');
  await put(world, 'ca', pairAs('ca', own));
  await world.create();
  await settleRotation(world);
  return { world, own };
}

describe('A user-supplied CA', () => {
  test('is rotated only to one that its author supplies', async () => {
    const { world, own } = await withOwn();
    await operate(world, 'rotate-ca-start');
    expect((await secretValues(world, 'ca'))['ca.crt']).toBe(own.certificate);
    expect(await rotationOf(world)).toBeUndefined();
    expect(await world.condition('Rotating')).toMatch(
      /^False Refused.*user-supplied CA: store .* ca-next.crt and ca-next.key/,
    );
    await world.reconcile();
    expect(world.events.filter((event) => event.startsWith('RotationRefused'))).toHaveLength(1);
  });

  test('is rotated to the one that its author has supplied beside it, without another request', async () => {
    const { world, own } = await withOwn();
    await operate(world, 'rotate-ca-start');
    const next = await authority(world, 'Example Corp Tenant CA');
    await put(world, 'ca', { ...pairAs('ca', own), ...pairAs('ca-next', next) });
    await settleRotation(world);
    expect(await rotationOf(world)).toMatchObject({ phase: 'Prepared' });
    const prepared = await secretValues(world, 'ca');
    expect(prepared['ca.crt']).toBe(next.certificate);
    expect(prepared['ca-bundle.crt']).toContain(own.certificate.trim());
    await operate(world, 'rotate-ca-complete');
    const ca = await secretValues(world, 'ca');
    expect([ca['ca.crt'], ca['ca.key'], ca['ca-bundle.crt']]).toEqual([next.certificate, next.key, next.certificate]);
    const { client } = parseKubeconfig((await secretValues(world, 'admin-kubeconfig'))['admin.conf'] ?? '');
    expect(isTrusted(client.certificate, next.certificate)).toBe(true);
    // What its author wrote may stay in the Secret; it is no offer anymore.
    await world.clock.advance(60_000);
    await world.change({ metadata: { annotations: { 'certs.steward.butlerlabs.dev/operation': null } } });
    await settleRotation(world);
    await operate(world, 'rotate-ca-start');
    expect(await world.condition('Rotating')).toContain('user-supplied CA');
  });

  test('is not rotated to an invalid pair', async () => {
    const { world, own } = await withOwn();
    const [next, other] = [await authority(world, 'Next'), await authority(world, 'Other')];
    await put(world, 'ca', { ...pairAs('ca', own), 'ca-next.crt': next.certificate, 'ca-next.key': other.key });
    await operate(world, 'rotate-ca-start');
    expect(await world.condition('Rotating')).toContain(
      'ca-next.crt and ca-next.key in Secret tenant-ca cannot be used',
    );
    expect((await secretValues(world, 'ca'))['ca.crt']).toBe(own.certificate);
  });

  test('beside the present one has no effect before a rotation is requested', async () => {
    const { world, own } = await withOwn();
    const next = await authority(world, 'Next');
    await put(world, 'ca', { ...pairAs('ca', own), ...pairAs('ca-next', next) });
    await settleRotation(world);
    expect((await secretValues(world, 'ca'))['ca-bundle.crt']).toBeUndefined();
    const { ca } = parseKubeconfig((await secretValues(world, 'admin-kubeconfig'))['admin.conf'] ?? '');
    expect(ca).toBe(own.certificate);
  });

  test('that replaces the present one is used at once, and everything is updated', async () => {
    const { world } = await withOwn();
    const next = await authority(world, 'Next');
    await put(world, 'ca', { ...pairAs('ca', next), ...pairAs('tls', next) });
    await settleRotation(world);
    const { ca, client } = parseKubeconfig((await secretValues(world, 'admin-kubeconfig'))['admin.conf'] ?? '');
    expect(ca).toBe(next.certificate);
    expect(isTrusted(client.certificate, next.certificate)).toBe(true);
    const served = (await secretValues(world, 'api-server-certificate'))['apiserver.crt'] ?? '';
    expect(isTrusted(served, next.certificate)).toBe(true);
    expect(await rotationOf(world)).toBeUndefined();
    expect(await world.condition('Ready')).toBe('True');
  });

  test('that replaces the present one after a rotation is the only one in the bundle', async () => {
    const world = new TenantWorld();
    await world.create();
    await settleRotation(world);
    await operate(world, 'rotate-ca-start');
    await operate(world, 'rotate-ca-complete');
    const next = await authority(world, 'Next');
    await put(world, 'ca', { ...pairAs('ca', next), ...pairAs('tls', next) });
    await settleRotation(world);
    expect((await secretValues(world, 'ca'))['ca-bundle.crt']).toBe(next.certificate);
    expect(await world.condition('Ready')).toBe('True');
  });
});

describe('The next CA', () => {
  test('may be supplied also if Steward generated the present one', async () => {
    const world = new TenantWorld();
    await world.create();
    await settleRotation(world);
    const next = await authority(world, 'Example Corp Tenant CA');
    await put(world, 'ca', pairAs('ca-next', next));
    await operate(world, 'rotate-ca-start');
    expect((await secretValues(world, 'ca'))['ca.crt']).toBe(next.certificate);
  });

  test('is not repaired when it is damaged, and nothing else is lost', async () => {
    const world = new TenantWorld();
    await world.create();
    await settleRotation(world);
    world.podsStart = false;
    await operate(world, 'rotate-ca-start');
    const before = await secretValues(world, 'ca');
    await put(world, 'ca', { 'ca-next.key': 'nonsense' });
    await world.reconcile();
    expect(await world.condition('CertificatesReady')).toContain('cannot be rotated to ca-next.crt and ca-next.key (');
    expect((await secretValues(world, 'ca'))['ca.crt']).toBe(before['ca.crt']);
  });
});

describe('The next service-account key', () => {
  test('is the one that its author has supplied', async () => {
    const world = new TenantWorld();
    await world.create();
    await settleRotation(world);
    const { privateKey, publicKey } = await issueServiceAccountKeys(algorithm);
    await put(world, 'sa-certificate', { 'sa-next.key': privateKey });
    await operate(world, 'rotate-serviceaccount-key-start');
    const keys = await secretValues(world, 'sa-certificate');
    expect(keys['sa.key']).toBe(privateKey);
    expect(keys['sa.pub']?.startsWith(publicKey.trim())).toBe(true);
    // Another one is of another rotation, and must not sign before it verifies.
    await put(world, 'sa-certificate', { 'sa-next.key': (await issueServiceAccountKeys(algorithm)).privateKey });
    await settleRotation(world);
    expect((await secretValues(world, 'sa-certificate'))['sa.key']).toBe(privateKey);
  });
});
