import { X509Certificate } from 'node:crypto';
import { describe, expect, test } from '@jest/globals';
import { kinds } from '../../../../api/core/kinds.ts';
import type { Resource } from '../../../../api/meta.ts';
import { annotations } from '../../../../api/names.ts';
import { secretText } from '../../shared/secret.ts';
import { callsOf, tenantShape, untilDeath } from '../../../../testing/worlds/tenant-shape.ts';
import { TenantWorld } from '../../../../testing/worlds/tenant-world.ts';
import { workerBootstrapAddon } from '../../../../testing/builders/worker-bootstrap-addon.ts';

const key = { namespace: 'default', name: 'tenant' };
const on = { spec: { addons: { workerBootstrap: workerBootstrapAddon() } } };
const off = { spec: { addons: { workerBootstrap: null } } };
const rolls = 'component.steward.butlerlabs.dev/talos-trustd-credentials';

async function running(addons: object = { workerBootstrap: workerBootstrapAddon() }): Promise<TenantWorld> {
  const world = new TenantWorld();
  await world.create({ spec: { dataStore: 'default', addons } });
  await world.settle();
  return world;
}

async function rbac(world: TenantWorld): Promise<readonly string[]> {
  const all = await Promise.all(
    [kinds.ClusterRole, kinds.ClusterRoleBinding].map(
      async (kind) => (await world.tenant.admin.list<Resource>(kind)).items,
    ),
  );
  return all.flat().flatMap(({ metadata: { name } }) => (/endpointslice|kubelet-serving/.test(name) ? [name] : []));
}

async function credentials(world: TenantWorld): Promise<Readonly<Record<string, string>>> {
  return secretText((await world.secret('trustd-creds'))?.data);
}

async function checksumLabel(world: TenantWorld): Promise<string | undefined> {
  return (await world.deployment())?.spec?.template.metadata?.labels?.[rolls];
}

async function manifests(world: TenantWorld): Promise<unknown> {
  const service = await world.cluster.admin.get(kinds.Service, key);
  return { deployment: (await world.deployment())?.spec, service: service?.spec, shape: await tenantShape(world) };
}

describe('a tenant for workers of Talos', () => {
  test('is Ready, with trustd beside its API server and what workers need inside', async () => {
    const world = await running();
    expect(await world.condition('AddonsReady')).toBe('True');
    expect(await rbac(world)).toHaveLength(3);
    const { status } = await world.read();
    expect(status?.addons?.workerBootstrap).toMatchObject({
      enabled: true,
      provider: 'talos',
      credentials: { secretName: 'tenant-trustd-creds' },
      endpoint: expect.stringMatching(/:50001$/) as unknown,
      service: { name: 'tenant', namespace: 'default', port: 50001 },
    });
    expect(await checksumLabel(world)).toBe(status?.addons?.workerBootstrap?.credentials?.checksum);
  });

  test('has its own CA with everything that it signed, and a token, in one Secret', async () => {
    const data = await credentials(await running());
    expect(Object.keys(data).sort()).toEqual(
      ['admin.crt', 'admin.key', 'os-ca.crt', 'os-ca.key', 'server.crt', 'server.key', 'token'].sort(),
    );
    const ca = new X509Certificate(data['os-ca.crt'] ?? '');
    expect(ca.subject).toBe('O=steward\nCN=tenant OS CA');
    expect(ca.publicKey.asymmetricKeyType).toBe('ed25519');
    for (const file of ['server.crt', 'admin.crt']) {
      expect(new X509Certificate(data[file] ?? '').verify(ca.publicKey)).toBe(true);
    }
    expect(data['server.crt']?.endsWith(data['os-ca.crt'] ?? '-')).toBe(true);
    expect(data.token).toMatch(/^butler\.[0-9a-f]{32}$/);
  });

  test('renews its certificates in time, and replaces the pods with them, but neither the CA nor the token', async () => {
    const world = await running();
    const [before, label] = [await credentials(world), await checksumLabel(world)];
    await world.clock.advance(364.5 * 24 * 60 * 60_000);
    await world.settle();
    const after = await credentials(world);
    expect(after['server.crt']).not.toBe(before['server.crt']);
    expect(after['admin.crt']).not.toBe(before['admin.crt']);
    expect([after['os-ca.crt'], after.token]).toEqual([before['os-ca.crt'], before.token]);
    expect(await checksumLabel(world)).not.toBe(label);
  });

  test('gets a certificate for a new name of its author, and only that', async () => {
    const world = await running();
    const before = await credentials(world);
    await world.change({
      spec: { addons: { workerBootstrap: workerBootstrapAddon({ talos: { certSANs: ['talos.example.org'] } }) } },
    });
    await world.settle();
    const after = await credentials(world);
    expect(new X509Certificate(after['server.crt'] ?? '').checkHost('talos.example.org')).toBeDefined();
    expect(after['admin.crt']).toBe(before['admin.crt']);
  });

  test('generates everything again on request', async () => {
    const world = await running();
    const before = await credentials(world);
    const body = { metadata: { annotations: { [annotations.rotate]: '' } } };
    await world.cluster.admin.patch(kinds.Secret, { ...key, name: 'tenant-trustd-creds' }, { type: 'merge', body });
    await world.settle();
    const after = await credentials(world);
    for (const name of ['os-ca.crt', 'server.crt', 'admin.crt', 'token']) expect(after[name]).not.toBe(before[name]);
    expect(world.events.join()).toContain('OsAuthorityReplaced');
  });

  test.each([
    ['is gone', { delete: true }],
    ['lost its CA', { data: { 'os-ca.key': null } }],
    ['lost its token', { data: { token: null } }],
    ['has a CA that does not match', { data: { 'os-ca.crt': Buffer.from('x').toString('base64') } }],
  ])('says how to fix it when the Secret %s: a new one would cut workers off', async (_what, how) => {
    const world = await running();
    const at = { ...key, name: 'tenant-trustd-creds' };
    if ('delete' in how) await world.cluster.admin.delete(kinds.Secret, at);
    else await world.cluster.admin.patch(kinds.Secret, at, { type: 'merge', body: how });
    await world.settle();
    expect(await world.condition('CertificatesReady')).toMatch(/SecretBroken: Secret tenant-trustd-creds .*restore it/);
  });

  test('has everything else restored after it was changed, on both sides', async () => {
    const world = await running();
    const at = { ...key, name: 'tenant-trustd-creds' };
    await world.cluster.admin.patch(kinds.Secret, at, { type: 'merge', body: { data: { 'server.key': 'eA==' } } });
    await world.tenant.admin.delete(kinds.ClusterRole, { name: 'steward:node-endpointslice-reader' });
    await world.settle();
    await world.clock.advance(15 * 60_000);
    await world.settle();
    expect((await credentials(world))['server.key']).toMatch(/^-----BEGIN PRIVATE KEY-----/);
    expect(await rbac(world)).toHaveLength(3);
  });

  test('writes nothing at rest', async () => {
    const world = await running();
    const before = await world.writes();
    const calls = world.tenant.calls.length;
    await world.reconcile();
    expect(await world.writes()).toBe(before);
    expect(world.tenant.calls.slice(calls).map(({ verb }) => verb)).toEqual(['text', 'list']);
  });
});

describe('the bootstrap of workers that is disabled', () => {
  test('leaves exactly what was there before, on both sides, and can be enabled and disabled again', async () => {
    const world = await running({});
    const before = await manifests(world);
    for (let times = 0; times < 2; times += 1) {
      await world.change(on);
      await world.settle();
      expect(await rbac(world)).toHaveLength(3);
      expect(await world.secret('trustd-creds')).toBeDefined();
      expect((await world.read()).status?.addons?.workerBootstrap?.enabled).toBe(true);
      await world.change(off);
      await world.settle();
      expect(await rbac(world)).toEqual([]);
      expect(await manifests(world)).toEqual(before);
      expect((await world.read()).status?.addons?.workerBootstrap).toEqual({ enabled: false });
    }
  });

  test('keeps the Secret until no pod needs it', async () => {
    const world = await running();
    world.podsStart = false;
    await world.change(off);
    await world.settle();
    await world.reportPods({ replicas: 4, updatedReplicas: 2, readyReplicas: 3, unavailableReplicas: 1 });
    await world.settle();
    expect(await world.secret('trustd-creds')).toBeDefined();
    await world.startPods();
    await world.settle();
    expect(await world.secret('trustd-creds')).toBeUndefined();
  });

  test('is removed even if the process dies after any call, and can be enabled again', async () => {
    const measured = await running();
    await measured.change(off);
    const total = await callsOf(measured, () => measured.settle());
    const expected = await tenantShape(measured);
    const removals = measured.cluster.calls.slice(-total).findIndex(({ verb }) => verb === 'delete');
    expect(removals).toBeGreaterThan(0);
    for (let calls = removals - 3; calls <= total; calls += 1) {
      const world = await running();
      await world.change(off);
      world.cluster.crashAfter(calls, { losesAnswer: true });
      await untilDeath(world);
      world.restart();
      await world.change(on);
      await world.settle();
      expect({ calls, ready: await world.condition('AddonsReady') }).toEqual({ calls, ready: 'True' });
      await world.change(off);
      await world.settle();
      expect({ calls, shape: await tenantShape(world) }).toEqual({ calls, shape: expected });
    }
  }, 300_000);
});
