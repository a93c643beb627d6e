import { expect, test } from '@jest/globals';
import type { TenantControlPlane } from '../../../api/steward/v1alpha1/tenant-control-plane.ts';
import { tenantControlPlaneWith } from '../../../testing/builders/tenant-control-plane.ts';
import { otherHolder } from './find-conflicting-owner.ts';

/** One that says of itself that it has taken over the data of the owner `former`. */
const successor = (name: string, creationTimestamp: string): TenantControlPlane =>
  tenantControlPlaneWith({
    metadata: { name, namespace: 'team', uid: `of-${name}`, creationTimestamp },
    status: { storage: { driver: 'etcd', owner: 'former', setup: { schema: 'shared', user: 'shared' } } },
  });

const elder = successor('elder', '2026-01-01T00:00:00Z');
const younger = successor('younger', '2026-01-02T00:00:00Z');

test('the older of two that adopted the same data owns it, so that only one of them removes it', () => {
  expect(otherHolder(younger, [elder, younger])).toBe('team/elder');
  expect(otherHolder(elder, [elder, younger])).toBeUndefined();
});

test('the one with the recorded UID owns the data, however young it is', () => {
  const former = tenantControlPlaneWith({
    metadata: { name: 'former', namespace: 'team', uid: 'former', creationTimestamp: '2026-03-01T00:00:00Z' },
  });
  expect(otherHolder(elder, [former, elder])).toBe('team/former');
  expect(otherHolder(former, [former, elder, younger])).toBeUndefined();
});
