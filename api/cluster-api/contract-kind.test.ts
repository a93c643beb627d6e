import { expect, test } from '@jest/globals';
import { storedMeta } from '../as-stored.ts';
import { contractKind } from './contract-kind.ts';

test.each([
  ['v1_v1beta2', 'v1'],
  ['v1beta1_v1alpha2', 'v1beta1'],
  ['v1alpha2_v1beta1', 'v1beta1'],
  ['v1beta2_v1beta10', 'v1beta10'],
  ['v2alpha1_v1alpha9', 'v2alpha1'],
])('of the versions %s the newest and most stable one is %s', (versions, newest) => {
  const definition = {
    apiVersion: 'apiextensions.k8s.io/v1',
    kind: 'CustomResourceDefinition',
    metadata: storedMeta({ name: 'anyclusters.example.com', labels: { 'cluster.x-k8s.io/v1beta2': versions } }),
  };
  expect(contractKind(definition, 'AnyCluster')?.kind.version).toBe(newest);
});
