import { expect, test } from '@jest/globals';
import { kubeconfigGenerator } from './kubeconfig-generator.ts';

test('a generator has no namespace, so permissions in a namespace give nobody kubeconfigs of its tenants', () => {
  expect(kubeconfigGenerator.namespaced).toBe(false);
});
