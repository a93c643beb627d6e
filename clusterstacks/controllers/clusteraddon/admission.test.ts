import { describe, expect, test } from '@jest/globals';
import { storedMeta } from '../../../api/as-stored.ts';
import type { CapiCluster } from '../../../api/cluster-api/kinds.ts';
import type { ClusterAddon } from '../../api/cluster-addon.ts';
import type { ClassFacts } from './admission.ts';
import {
  validateAddon,
  validateCluster,
  clusterWarnings,
  stackChangeAnnotation,
  withReleaseVersion,
} from './admission.ts';

const cluster = (name: string, version?: string, annotations: Readonly<Record<string, string>> = {}): CapiCluster => ({
  apiVersion: 'cluster.x-k8s.io/v1beta2',
  kind: 'Cluster',
  metadata: storedMeta({ name: 'blue', namespace: 'default', annotations }),
  spec: { topology: { classRef: { name }, version } },
});

const facts = (version: string | undefined, stack = 'docker-scs'): ClassFacts => ({
  className: `${stack}-v1`,
  stack,
  release: `${stack}-v1`,
  kubernetesVersion: version,
});

describe('The Kubernetes version of a Cluster', () => {
  test.each([undefined, '', 'v'])('that is %p becomes that of the release of its class', (version) => {
    const found = withReleaseVersion(cluster('a', version), facts('v1.36.3'));
    expect(found.spec?.topology?.version).toBe('v1.36.3');
    expect(withReleaseVersion(found, facts('v1.36.3'))).toBe(found);
    expect(validateCluster({ cluster: found, facts: facts('v1.36.3') })).toEqual([]);
  });

  test('is kept if it is given', () => {
    const given = cluster('a', 'v1.36.1');
    expect(withReleaseVersion(given, facts('v1.36.3'))).toBe(given);
  });

  test('is not checked for other classes and for Clusters without topology', () => {
    const other = cluster('a');
    expect(withReleaseVersion(other, undefined)).toBe(other);
    expect(validateCluster({ cluster: other, facts: undefined })).toEqual([]);
    const plain: CapiCluster = { ...other, spec: {} };
    expect(withReleaseVersion(plain, facts('v1.36.3'))).toBe(plain);
  });

  test('is refused with the allowed one if it differs', () => {
    const [error] = validateCluster({ cluster: cluster('a', 'v1.36.1'), facts: facts('v1.36.3') });
    expect(error).toMatchObject({ field: 'spec.topology.version', value: 'v1.36.1' });
    expect(error?.remedy).toContain('v1.36.3');
  });

  test('is not compared while the release is unknown, with a warning', () => {
    const change = { cluster: cluster('a', 'v1.36.1'), facts: facts(undefined) };
    expect(validateCluster(change)).toEqual([]);
    expect(clusterWarnings(change)).toHaveLength(1);
    expect(clusterWarnings({ ...change, facts: facts('v1.36.1') })).toEqual([]);
  });
});

describe('Another class of a Cluster', () => {
  const change = (from: string, to: string, stacks = ['docker-scs', 'docker-scs']) => ({
    old: cluster('a', from),
    oldFacts: facts(from, stacks[0]),
    cluster: cluster('b', to),
    facts: facts(to, stacks[1]),
  });

  test.each([
    ['of the same minor version', 'v1.35.1', 'v1.35.6'],
    ['of the next minor version', 'v1.35.1', 'v1.36.3'],
  ])('%s is admitted', (_, from, to) => {
    expect(validateCluster(change(from, to))).toEqual([]);
  });

  test.each([
    ['two minor versions on', 'v1.34.1', 'v1.36.3'],
    ['a minor version back', 'v1.36.3', 'v1.35.1'],
  ])('%s is refused with what is allowed', (_, from, to) => {
    const [error] = validateCluster(change(from, to));
    expect(error).toMatchObject({ field: 'spec.topology.version', value: to });
    expect(error?.remedy).toMatch(from.startsWith('v1.34') ? /1\.34 or 1\.35/ : /1\.36 or 1\.37/);
  });

  test('defect 13: of another stack is refused, and the refusal says how to change to it', () => {
    const other = change('v1.35.1', 'v1.35.1', ['docker-scs', 'docker-steward']);
    const [error] = validateCluster(other);
    expect(error).toMatchObject({ field: 'spec.topology.classRef.name' });
    expect(error?.remedy).toContain(`${stackChangeAnnotation}=true`);
    const allowed = cluster('b', 'v1.35.1', { [stackChangeAnnotation]: 'true' });
    expect(validateCluster({ ...other, cluster: allowed })).toEqual([]);
  });

  test('is not checked for a Cluster that is being deleted', () => {
    const { cluster: next, ...rest } = change('v1.34.1', 'v1.36.3');
    const going = { ...next, metadata: { ...next.metadata, deletionTimestamp: '2026-01-01T00:00:00Z' } };
    expect(validateCluster({ ...rest, cluster: going })).toEqual([]);
  });
});

test('A Cluster that was admitted earlier can be changed in other fields', () => {
  const old = cluster('a', 'v1.36.1');
  const labeled = { ...old, metadata: { ...old.metadata, labels: { a: 'b' } } };
  expect(validateCluster({ cluster: labeled, old, facts: facts('v1.36.3') })).toEqual([]);
});

describe('A ClusterAddon', () => {
  const addon = (clusterRef: object, name = 'cluster-addon-blue'): ClusterAddon => ({
    apiVersion: 'clusterstack.x-k8s.io/v1alpha1',
    kind: 'ClusterAddon',
    metadata: storedMeta({ name, namespace: 'default' }),
    spec: { clusterRef },
  });
  const good = { kind: 'Cluster', name: 'blue', namespace: 'default' };

  test('of a Cluster in its namespace is admitted', () => {
    expect(validateAddon(addon(good))).toEqual([]);
    expect(validateAddon(addon({ kind: 'Cluster', name: 'blue' }), addon(good))).toEqual([]);
  });

  test.each([
    ['another kind', { ...good, kind: 'Machine' }, 'spec.clusterRef.kind'],
    ['another namespace', { ...good, namespace: 'other' }, 'spec.clusterRef.namespace'],
    ['a Cluster that has another ClusterAddon', { ...good, name: 'green' }, 'metadata.name'],
  ])('of %s is refused', (_, reference, field) => {
    expect(validateAddon(addon(reference))).toMatchObject([{ field }]);
  });

  test('cannot change its Cluster', () => {
    const found = validateAddon(addon({ ...good, name: 'green' }), addon(good));
    expect(found).toMatchObject([{ field: 'spec.clusterRef.name', value: 'green' }]);
  });
});
