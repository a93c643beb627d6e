import { expect, test } from '@jest/globals';

import { kinds } from '../../../api/core/kinds.ts';
import { apiPlace } from './api-place.ts';

test.each([
  ['/api/v1/configmaps', { kind: kinds.ConfigMap }],
  ['/api/v1/namespaces/kube-system/configmaps', { kind: kinds.ConfigMap, namespace: 'kube-system' }],
  ['/api/v1/namespaces/a/configmaps/b%3Ac', { kind: kinds.ConfigMap, namespace: 'a', name: 'b:c' }],
  [
    '/apis/apps/v1/namespaces/a/deployments/b/status',
    { kind: kinds.Deployment, namespace: 'a', name: 'b', subresource: 'status' },
  ],
  ['/api/v1/namespaces', { kind: kinds.Namespace }],
  ['/api/v1/namespaces/a', { kind: kinds.Namespace, name: 'a' }],
  ['/api/v1/namespaces/a/finalize', { kind: kinds.Namespace, name: 'a', subresource: 'finalize' }],
  ['/apis/rbac.authorization.k8s.io/v1/clusterroles/x', { kind: kinds.ClusterRole, name: 'x' }],
])('%s names what it does in the Kubernetes API', (path, place) => {
  expect(apiPlace(path)).toEqual(place);
});

test.each(['/livez', '/api/v1/things', '/apis/apps/v1/namespaces/a/deployments/b/exec', '/version'])(
  '%s names no object that Steward knows',
  (path) => {
    expect(apiPlace(path)).toBeUndefined();
  },
);
