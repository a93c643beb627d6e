import { expect, test } from '@jest/globals';
import { labels } from '../../api/names.ts';
import { tenantControlPlaneWith } from '../../testing/builders/tenant-control-plane.ts';
import { backedUpObjects } from './backed-up-objects.ts';

const apiVersion = 'steward.butlerlabs.dev/v1alpha1';
const marks = {
  ...{ [labels.pool]: 'small', [labels.templateHash]: 'a', [labels.claimedBy]: 'u', [labels.owner]: 'o' },
  tier: 'gold',
};
const ownedBy = (kind: string) =>
  tenantControlPlaneWith({
    metadata: { labels: marks, ownerReferences: [{ apiVersion, kind, name: 'a', uid: 'u', controller: true }] },
  });

test('the control plane of a claim is saved as one of its own, because a claim does not create it again', () => {
  const [saved, ...others] = backedUpObjects(ownedBy('ControlPlaneClaim'), []);
  expect(others).toEqual([]);
  expect(saved?.metadata).toEqual({ name: 'tenant', namespace: 'default', labels: { tier: 'gold' }, annotations: {} });
});

test('one that its controller creates is not saved', () => {
  expect(backedUpObjects(ownedBy('ControlPlanePool'), [])).toEqual([]);
});
