import { expect, test } from '@jest/globals';
import { kubeconfigGenerator } from './kubeconfig-generator.ts';

test('a generator is cluster-scoped, so permissions in a namespace do not give access to kubeconfigs of its tenants', () => {
  expect(kubeconfigGenerator.namespaced).toBe(false);
});
