import { expect, test } from '@jest/globals';
import { ApiError } from '../../../runtime/client/errors.ts';
import { tenantControlPlaneWith } from '../../../testing/builders/tenant-control-plane.ts';
import { TenantWorld } from '../../../testing/worlds/tenant-world.ts';
import { validate } from '../admission.ts';

test('A webhook of the tenant that always answers 404 causes backoff', async () => {
  const world = new TenantWorld();
  world.tenant.before((call) => {
    if (call.verb === 'apply') throw new ApiError(404, 'NotFound', 'admission webhook "x" denied the request: no');
  });
  await world.create();
  await world.reconcile();
  const { error, afterMs } = await world.reconcile();
  expect(error).toBeDefined();
  expect(afterMs ?? Infinity).toBeGreaterThan(1000);
});

test('A version that is no longer supported does not delay other changes', () => {
  const old = tenantControlPlaneWith({ kubernetes: { version: 'v1.99.0' } });
  const drivers = new Map([['default', 'etcd']]);
  expect(validate({ tcp: old, old, drivers })).toEqual([]);
  expect(validate({ tcp: old, drivers })[0]?.field).toBe('spec.kubernetes.version');
});
