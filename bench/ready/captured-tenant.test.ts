import { describe, expect, test } from '@jest/globals';

import type { PlainObject } from '../../e2e/cluster/kubernetes-client.ts';
import { captureTenant, flagOf } from './captured-tenant.ts';

const containers = [{ args: ['--secure-port=6443', '--etcd-prefix=/t1', '--etcd-servers=https://etcd:2379'] }];

const objects: readonly PlainObject[] = [
  {
    kind: 'Secret',
    metadata: { name: 'tenant-ca', namespace: 'from', uid: '1', labels: { a: 'b' } },
    data: { k: 'dg==' },
  },
  { kind: 'Service', metadata: { name: 'tenant', namespace: 'from' }, spec: { clusterIP: '10.0.0.9' }, status: {} },
  {
    kind: 'Deployment',
    metadata: { name: 'tenant', namespace: 'from', generation: 1 },
    spec: { template: { spec: { containers } } },
    status: { replicas: 1 },
  },
];

describe('A captured control plane', () => {
  const captured = captureTenant(objects, 'into');

  test('contains names, data and specs, and nothing that belongs to the captured objects only', () => {
    expect(captured.secrets).toEqual([
      { kind: 'Secret', metadata: { name: 'tenant-ca', namespace: 'into' }, data: { k: 'dg==' } },
    ]);
    expect(captured.service).toEqual({
      kind: 'Service',
      metadata: { name: 'tenant', namespace: 'into' },
      spec: { clusterIP: '10.0.0.9' },
    });
    expect(captured.deployment.status).toBeUndefined();
  });

  test('knows the folders of its certificates and its data', () => {
    expect(captured).toMatchObject({ clusterIp: '10.0.0.9', prefix: '/t1', servers: 'https://etcd:2379' });
  });

  test('is refused if a part is missing, or if there are two', () => {
    expect(() => captureTenant(objects.slice(0, 2), 'into')).toThrow(/one Deployment, found were 0/);
    expect(() => captureTenant([...objects, ...objects], 'into')).toThrow(/one Service, found were 2/);
  });
});

test('A flag is found by its whole name only', () => {
  const [, , deployment = {}] = objects;
  expect(flagOf(deployment, 'etcd-prefix')).toBe('/t1');
  expect(flagOf(deployment, 'etcd')).toBeUndefined();
});
