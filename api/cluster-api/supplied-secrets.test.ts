import { expect, test } from '@jest/globals';
import { storedMeta } from '../as-stored.ts';
import type { Secret } from '../core/kinds.ts';
import { isSuppliedFor } from './supplied-secrets.ts';

const secret = (labels: Record<string, string>, ...owners: readonly string[]): Secret => ({
  apiVersion: 'v1',
  kind: 'Secret',
  metadata: storedMeta({
    name: 'prod-ca',
    labels,
    ownerReferences: owners.map((apiVersion) => ({ apiVersion, kind: 'Owner', name: 'owner', uid: 'owner' })),
  }),
});
const ofProd = { 'cluster.x-k8s.io/cluster-name': 'prod' };

test.each([
  ['nobody', []],
  ['the Cluster, as clusterctl does', ['cluster.x-k8s.io/v1beta2']],
  ['an object of the core group', ['v1']],
])('a Secret with the label of the Cluster that is owned by %s was supplied', (_, owners) => {
  expect(isSuppliedFor(secret(ofProd, ...owners), 'prod')).toBe(true);
});

test.each(['controlplane.cluster.x-k8s.io/v1alpha2', 'steward.butlerlabs.dev/v1alpha1'])(
  'a Secret with an owner in %s belongs to Steward itself',
  (apiVersion) => {
    expect(isSuppliedFor(secret(ofProd, 'v1', apiVersion), 'prod')).toBe(false);
  },
);

test('a Secret without the label of the Cluster, or with the label of a component, was not supplied by a user', () => {
  expect(isSuppliedFor(undefined, 'prod')).toBe(false);
  expect(isSuppliedFor(secret({}), 'prod')).toBe(false);
  expect(isSuppliedFor(secret(ofProd), 'other')).toBe(false);
  expect(isSuppliedFor(secret({ ...ofProd, 'steward.butlerlabs.dev/component': 'pki' }), 'prod')).toBe(false);
});
