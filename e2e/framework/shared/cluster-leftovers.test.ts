import { describe, expect, test } from '@jest/globals';

import { clusterLeftovers, nextToDelete } from './cluster-leftovers.ts';

const before = [
  'machine management',
  'object apps/v1 StatefulSet steward-system/etcd',
  'object batch/v1 Job steward-system/etcd-bootstrap',
  'object v1 Namespace /default',
  'spec of apps/v1 StatefulSet steward-system/etcd: 1a2b',
  'store user root',
];
const tenancy = 'steward.butlerlabs.dev/v1alpha1';

describe('what a scenario left on a cluster that it shares', () => {
  test('is nothing when all is as before, or a Job that had ended was removed', () => {
    expect(clusterLeftovers(before, before).lines).toEqual([]);
    expect(
      clusterLeftovers(
        before,
        before.filter((line) => !line.includes(' Job ')),
      ).lines,
    ).toEqual([]);
  });

  test('are objects, machines and what is in the store', () => {
    const now = [...before, 'object v1 Secret default/forgotten', 'machine worker', 'store key /registry/x'];
    expect(clusterLeftovers(before, now)).toEqual({
      objects: [{ apiVersion: 'v1', kind: 'Secret', namespace: 'default', name: 'forgotten' }],
      machines: ['worker'],
      lines: ['+ object v1 Secret default/forgotten', '+ machine worker', '+ store key /registry/x'],
    });
  });

  test('are also what is missing and what was changed', () => {
    const now = before.filter((line) => !line.startsWith('object apps/v1')).map((line) => line.replace('1a2b', '3c4d'));
    expect(clusterLeftovers(before, now).lines).toEqual([
      '+ spec of apps/v1 StatefulSet steward-system/etcd: 3c4d',
      '- object apps/v1 StatefulSet steward-system/etcd',
      '- spec of apps/v1 StatefulSet steward-system/etcd: 1a2b',
    ]);
  });

  test('are named by their namespace when that is new, but for what has to be deleted before it', () => {
    const now = [
      ...before,
      'object v1 Namespace /tenants',
      'object v1 ServiceAccount tenants/default',
      `object ${tenancy} TenantControlPlane tenants/shop`,
    ];
    expect(clusterLeftovers(before, now).lines).toEqual([
      '+ object v1 Namespace /tenants',
      `+ object ${tenancy} TenantControlPlane tenants/shop`,
    ]);
  });

  test('have no namespace where their kind has none', () => {
    const { objects } = clusterLeftovers([], ['object v1 Node /second']);
    expect(objects).toEqual([{ apiVersion: 'v1', kind: 'Node', name: 'second' }]);
  });
});

/** In what order everything goes, as long as nothing refuses. */
function deletions(lines: readonly string[]): readonly (readonly string[])[] {
  const rounds: string[][] = [];
  for (let left = [...lines]; left.length > 0;) {
    const { objects, machines } = nextToDelete(clusterLeftovers([], left));
    const gone = [...objects.map(({ kind, name }) => `${kind} ${name}`), ...machines.map((name) => `machine ${name}`)];
    rounds.push(gone);
    left = left.filter((line) => !gone.includes(line.replace(/^object \S+ (\S+) [^/]*\//, '$1 ')));
  }
  return rounds;
}

test('what others are made from is deleted before them', () => {
  expect(
    deletions([
      'object cluster.x-k8s.io/v1beta2 Cluster default/farm',
      `object ${tenancy} TenantControlPlane default/farm`,
      `object ${tenancy} DataStore /postgres-store`,
      'object apps/v1 StatefulSet steward-system/postgres',
    ]),
  ).toEqual([['Cluster farm'], ['TenantControlPlane farm'], ['DataStore postgres-store'], ['StatefulSet postgres']]);
});

test('machines are removed at once, but not before their Cluster and not before what runs on nodes of the management cluster', () => {
  const [tenant, namespace] = [`object ${tenancy} TenantControlPlane shop/one`, 'object v1 Namespace /shop'];
  const node = 'object v1 Node /second';
  expect(deletions(['machine worker', 'machine second', node, namespace, tenant])).toEqual([
    ['TenantControlPlane one', 'machine worker'],
    ['Namespace shop'],
    ['Node second', 'machine second'],
  ]);
  const cluster = 'object cluster.x-k8s.io/v1beta2 Cluster default/farm';
  expect(deletions(['machine farm-md-0', cluster])).toEqual([['Cluster farm'], ['machine farm-md-0']]);
});
