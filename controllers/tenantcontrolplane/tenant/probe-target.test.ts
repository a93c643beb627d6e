import { expect, test } from '@jest/globals';

import { tenantControlPlane } from '../../../api/steward/v1alpha1/tenant-control-plane.ts';
import { UnreachableError } from '../../../runtime/client/errors.ts';
import type { ProbeTarget } from '../../../tenants/prober.ts';
import { probeTarget } from './probe-target.ts';
import { TenantWorld } from '../../../testing/worlds/tenant-world.ts';

/** What the prober was told, in order. */
function watched(): {
  readonly world: TenantWorld;
  readonly told: (ProbeTarget | 'stop')[];
  readonly doubts: string[];
} {
  const told: (ProbeTarget | 'stop')[] = [];
  const doubts: string[] = [];
  const prober = {
    watch: (_: string, target: ProbeTarget) => void told.push(target),
    doubt: (uid: string) => void doubts.push(uid),
    stop: () => void told.push('stop'),
  };
  return { world: new TenantWorld({ prober }), told, doubts };
}

test('a tenant is probed once it can be used, through its Service and at its endpoint, without credentials', async () => {
  const { world, told } = watched();
  world.podsStart = false;
  await world.create();
  await world.settle();
  expect(told).toEqual([]);
  await world.startPods();
  await world.settle();
  const { status } = await world.read();
  const address = status?.controlPlaneEndpoint ?? '';
  const ca = expect.stringContaining('BEGIN CERTIFICATE');
  expect(told.at(-1)).toEqual({
    service: { server: expect.stringMatching(/^https:/), ca, dial: { host: address.split(':')[0], port: 6443 } },
    endpoint: { server: `https://${address}`, ca },
  });
});

test('a tenant that sleeps is not probed anymore', async () => {
  const { world, told } = watched();
  await world.create();
  await world.settle();
  expect(told).not.toContain('stop');
  await world.change({ spec: { controlPlane: { deployment: { replicas: 0 } } } });
  await world.settle();
  expect(told.at(-1)).toBe('stop');
});

test('a tenant that is deleted is not probed anymore', async () => {
  const { world, told } = watched();
  await world.create();
  await world.settle();
  await world.cluster.admin.delete(tenantControlPlane, (await world.read()).metadata);
  await world.reconcile();
  expect(told.at(-1)).toBe('stop');
});

test('a tenant that does not answer is probed as before', async () => {
  const { world, told } = watched();
  await world.create();
  await world.settle();
  expect(told.length).toBeGreaterThan(0);
  const known = told.length;
  world.tenant.failNext({}, new UnreachableError('connection refused'), 99);
  await world.clock.advance(16 * 60_000);
  await world.reconcile();
  const conditions = (await world.read()).status?.conditions ?? [];
  expect(conditions.find(({ type }) => type === 'TenantConfigured')?.status).not.toBe('True');
  expect(told.slice(known)).toEqual([]);
});

test('a tenant without a ready pod is probed at once, and one with ready pods is not', async () => {
  const { world, doubts } = watched();
  await world.create();
  await world.settle();
  const { uid } = (await world.read()).metadata;
  const known = doubts.length;
  await world.reconcile();
  expect(doubts.length).toBe(known);
  await world.reportPods({ replicas: 1, updatedReplicas: 1, readyReplicas: 0, availableReplicas: 0 });
  await world.reconcile();
  expect(doubts.slice(known)).toContain(uid);
});

test('a Service without an address of its own is reached by its name, not dialed', async () => {
  const { world } = watched();
  await world.create();
  const known = { tcp: await world.read(), tenantPrepared: true, operatorKubeconfig: 'a', superAdminKubeconfig: 'b' };
  const scope = { ...known, observed: { deployment: undefined }, endpoint: { port: 6443 } };
  const dialed = (clusterIP: string): unknown => probeTarget({ ...scope, service: { spec: { clusterIP } } });
  expect(dialed('10.96.0.7')).toMatchObject({ service: { dial: { host: '10.96.0.7', port: 6443 } } });
  expect(dialed('None')).toMatchObject({ service: { dial: undefined } });
});
