import { expect, test } from '@jest/globals';
import { ApiError } from '../../runtime/errors.ts';
import { tenantControlPlaneWith } from '../../testing/tenant-control-plane.ts';
import { TenantWorld } from '../../testing/tenant-world.ts';
import { complaintsAbout } from './admission.ts';

test('A webhook of the tenant that answers 404 for ever is met with backoff', async () => {
  const world = new TenantWorld();
  world.tenant.before((call) => {
    if (call.verb === 'apply') throw new ApiError(404, 'NotFound', 'admission webhook "x" denied the request: no');
  });
  await world.create();
  await world.visit();
  const { error, afterMs } = await world.visit();
  expect(error).toBeDefined();
  expect(afterMs ?? Infinity).toBeGreaterThan(1000);
});

test('A version that is hosted no more does not hold up other changes', () => {
  const old = tenantControlPlaneWith({ kubernetes: { version: 'v1.99.0' } });
  const drivers = new Map([['default', 'etcd']]);
  expect(complaintsAbout({ tcp: old, old, drivers })).toEqual([]);
  expect(complaintsAbout({ tcp: old, drivers })[0]?.field).toBe('spec.kubernetes.version');
});
