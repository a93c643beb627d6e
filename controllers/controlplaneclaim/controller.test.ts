import { createHash, X509Certificate } from 'node:crypto';
import { describe, expect, test } from '@jest/globals';
import { kinds } from '../../api/core/kinds.ts';
import { annotations, labels } from '../../api/names.ts';
import { controlPlaneClaim } from '../../api/steward/v1alpha1/pool/control-plane-claim.ts';
import { controlPlanePool } from '../../api/steward/v1alpha1/pool/control-plane-pool.ts';
import { tenantControlPlane } from '../../api/steward/v1alpha1/tenant-control-plane.ts';
import { parseKubeconfig } from '../../kubeadm/kubeconfig.ts';
import type { Kubeconfig } from '../../kubeadm/kubeconfig.ts';
import { crashPoints } from '../../testing/worlds/crash-points.ts';
import { plainTemplate, PoolWorld } from '../../testing/worlds/pool/pool-world.ts';

const key = (name: string): { namespace: string; name: string } => ({ namespace: 'team', name });

async function filled(minReady = 1): Promise<PoolWorld> {
  const world = new PoolWorld();
  await world.pool({ minReady });
  await world.fill();
  return world;
}

async function configOf(world: PoolWorld, claim: string): Promise<Kubeconfig> {
  const secret = await world.secret(`${claim}-kubeconfig`);
  return parseKubeconfig(Buffer.from(secret?.data?.value ?? '', 'base64').toString());
}

/** The control planes of all claims, without those that have none. */
async function given(world: PoolWorld): Promise<readonly (string | undefined)[]> {
  const { items } = await world.cluster.admin.list(controlPlaneClaim);
  return items.map(({ status }) => status?.tenantControlPlane).filter((name) => name !== undefined);
}

describe('A ControlPlaneClaim', () => {
  test('gets the oldest prepared control plane, in one write with which the pool lets it go', async () => {
    const world = await filled();
    await world.clock.advance(5000);
    await world.cluster.admin.patch(controlPlanePool, key('small'), { type: 'merge', body: { spec: { minReady: 2 } } });
    await world.fill();
    const claim = await world.claim('mine');
    const { length } = world.cluster.calls;
    await world.outcomeOf(claim);
    const writes = world.cluster.calls.slice(length).filter(({ verb }) => !['get', 'list'].includes(verb));
    expect(writes.map(({ verb, kind, subresource }) => [verb, kind?.kind, subresource])).toEqual([
      ['patch', 'ControlPlaneClaim', undefined],
      ['patch', 'TenantControlPlane', undefined],
      ['create', 'Secret', undefined],
      ['patch', 'ControlPlaneClaim', 'status'],
    ]);
    const { metadata, status } = await world.readClaim('mine');
    expect(status).toMatchObject({
      observedGeneration: 1,
      tenantControlPlane: 'small-0001',
      kubeconfigSecret: 'mine-kubeconfig',
      boundTime: world.clock.now().toISOString(),
    });
    expect(await world.bound('mine')).toBe('True Bound');
    const tcp = await world.readTenant('small-0001');
    expect(tcp.metadata.labels?.[labels.claimedBy]).toBe(metadata.uid);
    expect(tcp.metadata.ownerReferences).toEqual([
      expect.objectContaining({ kind: 'ControlPlaneClaim', uid: metadata.uid, controller: true }),
    ]);
  });

  test('gets a kubeconfig with its own name, signed for it by the CA of its control plane alone', async () => {
    const world = await filled(2);
    await world.claim('mine');
    await world.claim('yours');
    await world.settle();
    const [mine, yours] = [await configOf(world, 'mine'), await configOf(world, 'yours')];
    expect(mine).toMatchObject({ clusterName: 'mine', user: 'mine', server: 'https://small-0001.example:6443' });
    const certificate = new X509Certificate(mine.client.certificate);
    expect(certificate.subject).toBe('O=kubeadm:cluster-admins\nCN=mine');
    expect(certificate.verify(new X509Certificate(mine.ca).publicKey)).toBe(true);
    expect(certificate.verify(new X509Certificate(yours.ca).publicKey)).toBe(false);
    const secret = await world.secret('mine-kubeconfig');
    const { uid } = (await world.readClaim('mine')).metadata;
    expect(secret?.metadata).toMatchObject({
      labels: { [labels.claimedBy]: uid, [labels.certificateLifecycle]: 'kubeconfig' },
      ownerReferences: [{ kind: 'ControlPlaneClaim', uid, controller: true }],
    });
  });

  test('is reported as bound once, when it can use its control plane, and never again', async () => {
    const world = await filled();
    await world.putSecret('mine-kubeconfig', {});
    await world.claim('mine');
    await world.settle();
    expect([await world.bound('mine'), world.bindings]).toEqual(['False SecretTaken', []]);
    await world.cluster.admin.delete(kinds.Secret, key('mine-kubeconfig'));
    await world.settle();
    expect([await world.bound('mine'), world.bindings]).toEqual(['True Bound', ['mine']]);
    await world.cluster.admin.delete(kinds.Secret, key('mine-kubeconfig'));
    world.restart();
    await world.settle();
    expect([await world.secret('mine-kubeconfig'), world.bindings]).toEqual([expect.anything(), ['mine']]);
  });

  test('of several for one control plane gets it or waits, and gets the next one that becomes Ready', async () => {
    const world = await filled();
    const [first, second] = [await world.claim('first'), await world.claim('second')];
    await world.refresh();
    // At once, by two managers, from the same caches.
    await Promise.all([world.outcomeOf(first), world.outcomeOf(second, world.newManager())]);
    expect(await given(world)).toEqual(['small-0001']);
    await world.settle();
    const waiting = (await world.bound('first')) === 'True Bound' ? 'second' : 'first';
    expect(await world.bound(waiting)).toBe('False NoneReady');
    expect((await world.outcomeOf(await world.readClaim(waiting))).afterMs).toBeUndefined();
    await world.fill();
    expect(await world.bound(waiting)).toBe('True Bound');
    expect(new Set(await given(world)).size).toBe(2);
  });

  test('takes a control plane of which only the status changed since it was cached', async () => {
    const world = await filled();
    const claim = await world.claim('mine');
    await world.refresh();
    await world.tellReady('small-0001', 'True');
    const merge = { type: 'merge', body: { metadata: { annotations: { note: 'new' } } } } as const;
    await world.cluster.admin.patch(tenantControlPlane, key('small-0001'), merge);
    await world.outcomeOf(claim);
    expect(await world.bound('mine')).toBe('True Bound');
  });

  test('has one control plane whichever call its manager dies after, and takes no other', async () => {
    for (const calls of crashPoints(16, 'a control plane is claimed')) {
      const world = await filled(3);
      const claim = await world.claim('mine');
      await world.refresh();
      world.cluster.crashAfter(calls, { losesAnswer: true });
      await world.outcomeOf(claim);
      world.restart();
      await world.fill();
      expect(await world.bound('mine')).toBe('True Bound');
      const { status, metadata } = await world.readClaim('mine');
      const all = await world.tenants();
      const own = all.filter((tcp) => tcp.metadata.labels?.[labels.claimedBy] === metadata.uid);
      expect(own.map((tcp) => tcp.metadata.name)).toEqual([status?.tenantControlPlane]);
      // It took one and no other, so that one was created in its place.
      expect(all.map((tcp) => tcp.metadata.name)).toEqual([1, 2, 3, 4].map((number) => `small-000${number}`));
      expect((await configOf(world, 'mine')).server).toBe(`https://${status?.tenantControlPlane ?? ''}.example:6443`);
      expect((await world.readPool()).status).toMatchObject({ ready: 3, claimed: 1 });
    }
  });

  test('keeps one of two control planes that two managers took for it, and deletes the other', async () => {
    const world = await filled(2);
    const claim = await world.claim('mine');
    await world.refresh();
    const other = world.newManager();
    // The second manager reads that the claim has none, and then takes another one than the first.
    const removeHook = world.cluster.before(async ({ verb, kind }) => {
      if (verb !== 'patch' || kind?.kind !== 'TenantControlPlane') return;
      removeHook();
      await world.outcomeOf(claim, other);
      const taken = await world.tenants();
      expect(taken.filter(({ metadata }) => metadata.labels?.[labels.claimedBy] !== undefined)).toHaveLength(1);
    });
    await world.outcomeOf(claim);
    await world.settle();
    const { status, metadata } = await world.readClaim('mine');
    const own = (await world.tenants()).filter((tcp) => tcp.metadata.labels?.[labels.claimedBy] === metadata.uid);
    expect(own.map((tcp) => tcp.metadata.name)).toEqual([status?.tenantControlPlane]);
    expect(await world.bound('mine')).toBe('True Bound');
  });

  test.each([
    ['a pool that does not exist', 'other', 'False PoolNotFound'],
    ['a pool with nothing that is Ready', 'small', 'False NoneReady'],
  ])('that names %s waits, which is no error', async (_, pool, expected) => {
    const world = new PoolWorld();
    await world.pool();
    const claim = await world.claim('mine', { pool });
    await world.settle();
    expect(await world.bound('mine')).toBe(expected);
    expect(await world.outcomeOf(claim)).toMatchObject({ error: undefined, afterMs: undefined });
  });

  test('with a name that is too long for a certificate takes nothing', async () => {
    const world = await filled();
    const name = 'a'.repeat(64);
    await world.claim(name);
    await world.settle();
    expect(await world.bound(name)).toBe('False InvalidSpec');
    expect(await world.unclaimed()).toHaveLength(1);
  });

  test('gets nothing of a pool that is being deleted', async () => {
    const world = await filled();
    const held = { type: 'merge', body: { metadata: { finalizers: ['example.com/held'] } } } as const;
    await world.cluster.admin.patch(controlPlanePool, key('small'), held);
    await world.cluster.admin.delete(controlPlanePool, key('small'));
    const claim = await world.claim('mine');
    await world.refresh();
    await world.outcomeOf(claim);
    expect(await world.bound('mine')).toBe('False PoolNotFound');
  });

  test('gets nothing of another namespace', async () => {
    const world = await filled();
    const foreign = await world.claim('mine', {}, 'foreign');
    await world.settle();
    const { status } = await world.readClaim('mine', 'foreign');
    expect(status?.conditions?.[0]).toMatchObject({ type: 'Bound', reason: 'PoolNotFound' });
    // Not even with a pool of the same name, whose own control planes are not Ready.
    await world.pool({}, 'small', 'foreign');
    await world.settle();
    await world.outcomeOf(foreign);
    expect((await world.readClaim('mine', 'foreign')).status?.tenantControlPlane).toBeUndefined();
    expect(await world.unclaimed()).toEqual(['small-0001']);
  });

  test('gets nothing that is not Ready anymore, and nothing of a former template', async () => {
    const world = await filled(2);
    await world.tellReady('small-0001', 'False');
    await world.claim('mine');
    await world.settle(1);
    expect((await world.readClaim('mine')).status?.tenantControlPlane).toBe('small-0002');
    await world.fill();
    const spec = { template: { spec: { ...plainTemplate.spec, kubernetes: { version: 'v1.35.4' } } } };
    await world.cluster.admin.patch(controlPlanePool, key('small'), { type: 'merge', body: { spec } });
    await world.claim('second');
    await world.settle();
    expect(await world.bound('second')).toBe('False NoneReady');
    await world.fill();
    const name = (await world.readClaim('second')).status?.tenantControlPlane ?? '';
    expect((await world.readTenant(name)).spec.kubernetes.version).toBe('v1.35.4');
  });

  test('gets nothing whose status is about a former spec', async () => {
    const world = await filled();
    const body = { spec: { kubernetes: { version: 'v1.36.2' } } };
    await world.cluster.admin.patch(tenantControlPlane, key('small-0001'), { type: 'merge', body });
    await world.claim('mine');
    await world.settle();
    expect(await world.bound('mine')).toBe('False NoneReady');
  });

  test('does not touch a Secret of its name that belongs to somebody else', async () => {
    const world = await filled();
    await world.putSecret('mine-kubeconfig', { value: 'precious' });
    await world.claim('mine');
    await world.settle();
    expect(await world.bound('mine')).toBe('False SecretTaken');
    expect((await world.secret('mine-kubeconfig'))?.data?.value).toBe(Buffer.from('precious').toString('base64'));
    expect((await world.readClaim('mine')).status?.kubeconfigSecret).toBeUndefined();
    await world.cluster.admin.delete(kinds.Secret, key('mine-kubeconfig'));
    await world.settle();
    expect(await world.bound('mine')).toBe('True Bound');
  });

  test('waits for a CA and an endpoint that are not there', async () => {
    const world = await filled();
    await world.cluster.admin.delete(kinds.Secret, key('small-0001-ca'));
    await world.claim('mine');
    await world.settle();
    expect(await world.bound('mine')).toBe('False KubeconfigPending');
    await world.hasKeys('small-0001');
    await world.settle();
    expect(await world.bound('mine')).toBe('True Bound');
  });

  test('has its kubeconfig renewed before it expires, on request, and with the CA', async () => {
    const world = await filled();
    const claim = await world.claim('mine');
    await world.settle();
    const serial = async (): Promise<string> =>
      new X509Certificate((await configOf(world, 'mine')).client.certificate).serialNumber;
    const seen = [await serial()];
    const { afterMs = 0 } = await world.outcomeOf(claim);
    expect(Math.round(afterMs / 86_400_000)).toBe(365);
    const request = { metadata: { annotations: { [annotations.rotate]: '' } } };
    await world.cluster.admin.patch(kinds.Secret, key('mine-kubeconfig'), { type: 'merge', body: request });
    await world.settle();
    seen.push(await serial());
    expect((await world.secret('mine-kubeconfig'))?.metadata.annotations?.[annotations.rotate]).toBeUndefined();
    await world.hasKeys('small-0001');
    await world.settle();
    seen.push(await serial());
    await world.clock.advance(366 * 86_400_000);
    await world.settle();
    seen.push(await serial());
    expect(new Set(seen).size).toBe(4);
  });

  test('never gets another control plane when its own is gone', async () => {
    const world = await filled(2);
    await world.claim('mine');
    await world.fill();
    const name = (await world.readClaim('mine')).status?.tenantControlPlane ?? '';
    await world.cluster.admin.delete(tenantControlPlane, key(name));
    await world.fill();
    expect(await world.bound('mine')).toBe('False ControlPlaneGone');
    expect(await given(world)).toEqual([name]);
    expect((await world.readPool()).status).toMatchObject({ ready: 2, claimed: 0 });
  });

  test('is deleted with its control plane, for which it waits, and with its kubeconfig', async () => {
    const world = await filled();
    await world.claim('mine');
    await world.settle();
    const held = { metadata: { finalizers: ['example.com/data'] } };
    await world.cluster.admin.patch(tenantControlPlane, key('small-0001'), { type: 'merge', body: held });
    await world.cluster.admin.delete(controlPlaneClaim, key('mine'));
    await world.settle();
    expect((await world.readClaim('mine')).status?.conditions).toContainEqual(
      expect.objectContaining({ type: 'Deleting', reason: 'DeletingControlPlane' }),
    );
    expect((await world.readTenant('small-0001')).metadata.deletionTimestamp).toBeDefined();
    const free = { metadata: { finalizers: null } };
    await world.cluster.admin.patch(tenantControlPlane, key('small-0001'), { type: 'merge', body: free });
    await world.settle();
    expect(await world.cluster.admin.get(controlPlaneClaim, key('mine'))).toBeUndefined();
    expect(await world.cluster.admin.get(tenantControlPlane, key('small-0001'))).toBeUndefined();
    expect(await world.secret('mine-kubeconfig')).toBeUndefined();
  });

  test.each([
    ['deletionPolicy Retain', { deletionPolicy: 'Retain' }, undefined],
    ['--cascade=orphan', {}, 'Orphan'],
  ] as const)('with %s leaves its control plane without an owner', async (_, spec, propagation) => {
    const world = await filled();
    await world.claim('mine', spec);
    await world.settle();
    if (propagation !== undefined) {
      const body = {
        metadata: { finalizers: [...((await world.readClaim('mine')).metadata.finalizers ?? []), 'orphan'] },
      };
      await world.cluster.admin.patch(controlPlaneClaim, key('mine'), { type: 'merge', body });
    }
    await world.cluster.admin.delete(controlPlaneClaim, key('mine'));
    await world.settle();
    const { metadata } = await world.readTenant('small-0001');
    expect(metadata.ownerReferences ?? []).toEqual([]);
    expect(metadata.deletionTimestamp).toBeUndefined();
    expect(metadata.labels?.[labels.claimedBy]).toBeUndefined();
    // Nobody else gets it: it belongs to no pool.
    await world.cluster.admin.patch(controlPlanePool, key('small'), {
      type: 'merge',
      body: { spec: { minReady: 0, maxReady: 0 } },
    });
    await world.settle();
    await world.claim('next');
    await world.settle();
    expect(await world.bound('next')).toBe('False NoneReady');
  });

  test('that waits is deleted at once', async () => {
    const world = new PoolWorld();
    await world.claim('mine');
    await world.settle();
    await world.cluster.admin.delete(controlPlaneClaim, key('mine'));
    await world.settle();
    expect(await world.cluster.admin.get(controlPlaneClaim, key('mine'))).toBeUndefined();
  });

  test('shares no private key with another one', async () => {
    const world = await filled(4);
    for (const name of ['a', 'b', 'c', 'd']) await world.claim(name);
    await world.settle();
    const { items } = await world.cluster.admin.list(kinds.Secret);
    const texts = items.flatMap(({ data = {} }) =>
      Object.values(data).map((value) => Buffer.from(value, 'base64').toString()),
    );
    const clients = await Promise.all(['a', 'b', 'c', 'd'].map((name) => configOf(world, name)));
    const authorities = texts.filter((text) => text.startsWith('-----BEGIN') && text.includes('PRIVATE KEY'));
    const keys = [...authorities, ...clients.map(({ client }) => client.key)];
    expect(keys).toHaveLength(8);
    expect(new Set(keys.map((text) => createHash('sha256').update(text.trim()).digest('hex'))).size).toBe(8);
  });
});
