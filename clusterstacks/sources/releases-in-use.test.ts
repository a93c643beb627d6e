import { expect, test } from '@jest/globals';
import fc from 'fast-check';
import { storedMeta } from '../../api/as-stored.ts';
import type { CapiCluster } from '../../api/cluster-api/kinds.ts';
import { clusterStackLabels } from '../api/names.ts';
import type { Resource } from '../../api/meta.ts';
import { className, releaseName } from './release-name.ts';
import { releasesInUse } from './releases-in-use.ts';

const aCluster = (namespace: string, name: string, topology?: object): CapiCluster => ({
  apiVersion: 'cluster.x-k8s.io/v1beta2',
  kind: 'Cluster',
  metadata: storedMeta({ namespace, name }),
  spec: { topology },
});
const aClass = (namespace: string, name: string, release?: string): Resource => ({
  apiVersion: 'cluster.x-k8s.io/v1beta2',
  kind: 'ClusterClass',
  metadata: storedMeta({ namespace, name, ...(release && { labels: { [clusterStackLabels.release]: release } }) }),
});
const used = (clusters: readonly CapiCluster[], classes: readonly Resource[] = []) =>
  Object.fromEntries(releasesInUse(clusters, classes));

test('a Cluster of another namespace uses a release through the class that it names there', () => {
  const clusters = [
    aCluster('team', 'a', { classRef: { name: 'docker-scs-1-30-v1', namespace: 'stacks' } }),
    aCluster('stacks', 'b', { classRef: { name: 'docker-scs-1-30-v1' } }),
    aCluster('other', 'c', { class: 'docker-scs-1-30-v1', classNamespace: 'stacks' }),
  ];
  expect(used(clusters)).toEqual({ 'stacks/docker-scs-1-30-v1': ['other/c', 'stacks/b', 'team/a'] });
});

test('a version with a suffix protects its release: the class has a dot where the release has a dash', () => {
  const clusters = [aCluster('n', 'a', { class: 'openstack-hosted-control-plane-1-33-v0-sha.abc' })];
  expect(used(clusters)).toEqual({ 'n/openstack-hosted-control-plane-1-33-v0-sha-abc': ['n/a'] });
});

test('the label of a class takes precedence over its name', () => {
  const clusters = [aCluster('n', 'a', { class: 'renamed' }), aCluster('n', 'b', { class: 'docker-scs-1-30-v1' })];
  const classes = [aClass('n', 'renamed', 'docker-scs-1-30-v2'), aClass('n', 'docker-scs-1-30-v1')];
  expect(used(clusters, classes)).toEqual({ 'n/docker-scs-1-30-v2': ['n/a'], 'n/docker-scs-1-30-v1': ['n/b'] });
});

test('Clusters without topology, or with a class that is not from a release, use none', () => {
  expect(used([aCluster('n', 'a'), aCluster('n', 'b', {}), aCluster('n', 'c', { class: 'quick-start' })])).toEqual({});
});

test('a release that a Cluster uses counts as used, however class, namespace and version are written', () => {
  const word = fc.stringMatching(/^[a-z0-9]{1,6}$/);
  const version = fc.oneof(
    fc.nat({ max: 99 }).map((major) => ({ major })),
    fc.tuple(fc.nat({ max: 99 }), word, word).map(([major, a, b]) => ({ major, suffix: [a, b] as const })),
  );
  const namespace = fc.constantFrom('a', 'b');
  const stack = { provider: 'docker', name: 'my-scs', kubernetesVersion: '1.30' };
  const shape = fc.constantFrom('class', 'classRef', 'class and classNamespace', 'classRef and namespace');
  const topology = (name: string, at: string, how: string): object => {
    if (how === 'class') return { class: name };
    if (how === 'classRef') return { classRef: { name } };
    return how === 'classRef and namespace'
      ? { classRef: { name, namespace: at } }
      : { class: name, classNamespace: at };
  };
  fc.assert(
    fc.property(fc.array(fc.tuple(version, namespace, namespace, shape, fc.boolean())), (uses) => {
      const clusters = uses.map(([of, own, other, how], index) =>
        aCluster(own, `c${index}`, topology(className(stack, of), other, how)),
      );
      const expected = uses.map(([of, own, other, how]) => {
        return `${how.includes('namespace') || how.includes('Namespace') ? other : own}/${releaseName(stack, of)}`;
      });
      const classes = uses.flatMap(([of, own, other, , isLabeled]) =>
        [own, other].map((at) => aClass(at, className(stack, of), isLabeled ? releaseName(stack, of) : undefined)),
      );
      const use = releasesInUse(clusters, classes);
      for (const [index, release] of expected.entries())
        expect(use.get(release)).toContain(`${uses[index]?.[1]}/c${index}`);
    }),
  );
});
