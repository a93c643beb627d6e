import { describe, expect, test } from '@jest/globals';
import { kinds } from '../../../api/core/kinds.ts';
import type { TenantControlPlaneChanges } from '../../../testing/builders/tenant-control-plane.ts';
import { TenantWorld } from '../../../testing/worlds/tenant-world.ts';

const key = { namespace: 'default', name: 'kubernetes' };

async function running(changes: TenantControlPlaneChanges = {}): Promise<TenantWorld> {
  const world = new TenantWorld();
  await world.create(changes);
  await world.settle();
  return world;
}

const slice = (world: TenantWorld) => world.tenant.admin.get(kinds.EndpointSlice, key);

async function addresses(world: TenantWorld): Promise<unknown> {
  const found = await slice(world);
  return found && { type: found.addressType, to: found.endpoints?.map((one) => one.addresses), ports: found.ports };
}

/** As others leave it: without an endpoint. */
async function erase(world: TenantWorld): Promise<void> {
  await world.tenant.admin.patch(kinds.EndpointSlice, key, { type: 'merge', body: { endpoints: [] } });
}

/** Has the Deployment that of a manager of before, whose API servers keep the Service. */
async function keptByServers(world: TenantWorld): Promise<void> {
  const spec = structuredClone((await world.deployment())?.spec);
  for (const container of spec?.template.spec?.containers ?? []) {
    container.args = (container.args ?? []).filter((flag) => !flag.startsWith('--endpoint-reconciler-type'));
  }
  await world.cluster.admin.patch(
    kinds.Deployment,
    { namespace: 'default', name: 'tenant' },
    { type: 'merge', body: { spec } },
  );
}

const lead = (address: string) => ({
  type: address.includes(':') ? 'IPv6' : 'IPv4',
  to: [[address]],
  ports: [{ name: 'https', port: 6443, protocol: 'TCP' }],
});

describe('The Service kubernetes inside a tenant', () => {
  test('leads to the address of the control plane, by an Endpoints object and a slice that does not mirror it', async () => {
    const world = await running({ networkProfile: { address: '192.0.2.7' } });
    expect(await addresses(world)).toEqual(lead('192.0.2.7'));
    expect((await slice(world))?.metadata.labels).toMatchObject({ 'kubernetes.io/service-name': 'kubernetes' });
    const endpoints = await world.tenant.admin.get(kinds.Endpoints, key);
    expect(endpoints?.subsets).toEqual([
      { addresses: [{ ip: '192.0.2.7' }], ports: [{ name: 'https', port: 6443, protocol: 'TCP' }] },
    ]);
    expect(endpoints?.metadata.labels).toMatchObject({ 'endpointslice.kubernetes.io/skip-mirror': 'true' });
  });

  test('is updated when the address changes', async () => {
    const world = await running({ networkProfile: { address: '192.0.2.7' } });
    await world.change({ spec: { networkProfile: { address: '192.0.2.8' } } });
    await world.settle();
    expect(await addresses(world)).toEqual(lead('192.0.2.8'));
  });

  test('has no mark of Steward, because API servers with their own reconciler would remove it', async () => {
    const world = await running();
    const found = await slice(world);
    expect(found?.metadata.labels).toEqual({ 'kubernetes.io/service-name': 'kubernetes' });
    expect(found?.metadata.annotations).toBeUndefined();
  });

  test('has an endpoint again when older API servers, which maintain it themselves, remove it as they are replaced', async () => {
    const world = await running();
    const before = await addresses(world);
    await keptByServers(world);
    await world.reconcile();
    for (let erased = 0; erased < 3; erased += 1) {
      await world.clock.advance(10_000);
      await erase(world);
      await world.reconcile();
      expect(await addresses(world)).toEqual(before);
    }
    await world.clock.advance(2 * 60_000);
    await world.reconcile();
    const calls = world.tenant.calls.length;
    await world.reconcile();
    expect(world.tenant.calls.slice(calls).map(({ kind }) => kind?.kind)).not.toContain('EndpointSlice');
  });

  test('leads to the control plane again when a proxy that has redirected it is removed at once', async () => {
    const world = await running();
    const before = await addresses(world);
    await world.change({ spec: { addons: { tcpProxy: {} } } });
    await world.settle();
    await erase(world);
    await world.change({ spec: { addons: { tcpProxy: null } } });
    await world.settle();
    expect(await addresses(world)).toEqual(before);
  });

  test.each<[string, TenantControlPlaneChanges]>([
    ['a proxy keeps it', { spec: { addons: { tcpProxy: {} } } }],
    [
      'the author chose another way',
      { deployment: { extraArgs: { apiServer: ['--endpoint-reconciler-type=lease'] } } },
    ],
  ])('is not changed if %s', async (_, changes) => {
    const world = await running(changes);
    expect(await world.condition('Ready')).toBe('True');
    expect(await addresses(world)).toBeUndefined();
    expect(await world.tenant.admin.get(kinds.Endpoints, key)).toBeUndefined();
  });

  test('leads where the author has the API server advertise itself', async () => {
    const apiServer = ['--advertise-address=198.51.100.4'];
    const world = await running({ deployment: { extraArgs: { apiServer } } });
    expect(await addresses(world)).toEqual(lead('198.51.100.4'));
  });

  test('leads to the control plane again before a proxy is removed, and no pod is replaced for it', async () => {
    const world = await running({ spec: { addons: { tcpProxy: {} } } });
    const pods = (await world.deployment())?.spec?.template;
    const from = world.tenant.calls.length;
    await world.change({ spec: { addons: { tcpProxy: null } } });
    await world.settle();
    const order = world.tenant.calls.slice(from).map(({ verb, kind }) => `${verb} ${kind?.kind ?? ''}`);
    expect(order.indexOf('apply EndpointSlice')).toBeGreaterThanOrEqual(0);
    expect(order.indexOf('apply EndpointSlice')).toBeLessThan(order.indexOf('delete Deployment'));
    expect((await world.deployment())?.spec?.template).toEqual(pods);
  });
});
