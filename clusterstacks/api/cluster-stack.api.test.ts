import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import type { Cluster } from '../../runtime/client/cluster.ts';
import { openCluster } from '../../runtime/client/http-cluster.ts';
import { installKinds } from '../../testing/servers/install-kinds.ts';
import { apiServerUnderTest } from '../../testing/servers/api-server-under-test.ts';
import { kinds } from '../../api/core/kinds.ts';
import type { Manifest } from '../../api/meta.ts';
import { apiVersionOf } from '../../api/meta.ts';
import type { ClusterStack } from './cluster-stack.ts';
import { clusterStack } from './cluster-stack.ts';
import { clusterStackRelease } from './cluster-stack-release.ts';
import { clusterStackKinds } from './kinds.ts';

const namespace = `stacks-${randomUUID().slice(0, 8)}`;
let cluster: Cluster;

beforeAll(async () => {
  const server = await apiServerUnderTest();
  cluster = openCluster(
    { server: server.url, ca: server.ca, clientCert: server.adminCertificate, clientKey: server.adminKey },
    { name: 'management' },
  );
  await installKinds(cluster, clusterStackKinds);
  await cluster.create(kinds.Namespace, { apiVersion: 'v1', kind: 'Namespace', metadata: { name: namespace } });
}, 120_000);

afterAll(() => cluster.close());

const aStack = (spec: object): Manifest => ({
  apiVersion: apiVersionOf(clusterStack),
  kind: clusterStack.kind,
  metadata: { name: `x-${randomUUID().slice(0, 8)}`, namespace },
  spec: { provider: 'docker', name: 'scs', kubernetesVersion: '1.30', noProvider: true, ...spec },
});
const dryRun = (spec: object): Promise<ClusterStack> => cluster.create(clusterStack, aStack(spec), { dryRun: true });

describe('A ClusterStack as written for the cluster-stack-operator', () => {
  test('is accepted and gets the defaults', async () => {
    const { spec } = await dryRun({ versions: ['v1', 'v0-sha.rwvgrna'] });
    expect(spec).toEqual({
      provider: 'docker',
      name: 'scs',
      kubernetesVersion: '1.30',
      channel: 'stable',
      versions: ['v1', 'v0-sha.rwvgrna'],
      autoSubscribe: true,
      noProvider: true,
      pollInterval: '5m',
    });
  });

  test.each([
    ['spec.provider', { provider: 'Docker' }],
    ['spec.provider', { provider: '' }],
    ['spec.kubernetesVersion', { kubernetesVersion: 'v1.30' }],
    ['spec.kubernetesVersion', { kubernetesVersion: '1.30.1' }],
    ['spec.channel', { channel: 'beta' }],
    ['spec.versions[1]', { versions: ['v1', '1'] }],
    ['spec.versions[0]', { versions: ['v0-sha'] }],
    ['spec.pollInterval', { pollInterval: '5 minutes' }],
    ['spec.source.type', { source: { type: 'ftp' } }],
  ])('is refused for a bad %s: %j', async (field, spec) => {
    await expect(dryRun(spec)).rejects.toThrow(field);
  });
});

test('keeps a condition of the cluster-stack-operator, which is read as a standard one', async () => {
  const name = 'docker-scs-1-30-v1';
  const manifest = { apiVersion: apiVersionOf(clusterStackRelease), kind: 'ClusterStackRelease', metadata: { name } };
  await cluster.create(clusterStackRelease, { ...manifest, metadata: { name, namespace }, spec: {} });
  const theirs = { type: 'Ready', status: 'True', lastTransitionTime: '2024-01-01T00:00:00Z' };
  const body = { status: { ready: true, conditions: [theirs] } };
  const key = { namespace, name };
  await cluster.patch(clusterStackRelease, key, { type: 'merge', body }, { subresource: 'status' });
  const { status } = (await cluster.get(clusterStackRelease, key)) ?? {};
  expect(status).toEqual({ ready: true, conditions: [{ ...theirs, reason: '', message: '' }] });
});
