import { expect, test } from '@jest/globals';
import type { DataStoreSpec } from './data-store.ts';
import { servesOneTenant } from './data-stores-of.ts';

const nats: DataStoreSpec['nats'] = { operatorKey: {}, systemCredentials: {}, replicas: 1, storagePerTenant: '1Gi' };

test('only a NATS datastore without accounts for tenants serves a single tenant', () => {
  expect(servesOneTenant({ driver: 'NATS', endpoints: ['nats:4222'] })).toBe(true);
  expect(servesOneTenant({ driver: 'NATS', endpoints: ['nats:4222'], nats })).toBe(false);
  expect(servesOneTenant({ driver: 'etcd', endpoints: ['etcd:2379'] })).toBe(false);
});
