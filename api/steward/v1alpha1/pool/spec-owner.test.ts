import { expect, test } from '@jest/globals';
import { specOwner } from './spec-owner.ts';

const owner = (apiVersion: string, kind: string, controller = true) => ({
  ...{ apiVersion, kind, name: 'a', uid: 'u', controller },
});

test.each([
  ['a StewardControlPlane', [owner('controlplane.cluster.x-k8s.io/v1alpha2', 'StewardControlPlane')], true],
  ['a controller of others', [owner('example.com/v1', 'Shop')], true],
  ['a claim', [owner('steward.butlerlabs.dev/v1alpha1', 'ControlPlaneClaim')], false],
  ['a pool', [owner('steward.butlerlabs.dev/v1alpha1', 'ControlPlanePool')], true],
  ['an owner that is no controller', [owner('example.com/v1', 'Shop', false)], false],
  ['nothing', undefined, false],
])('%s decides about a control plane that it owns: %s', (_, ownerReferences, writes) => {
  expect(specOwner({ ...(ownerReferences && { ownerReferences }) }) !== undefined).toBe(writes);
});
