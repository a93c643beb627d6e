import { beforeEach, expect, test } from '@jest/globals';
import { capiClusterClass } from '../../api/cluster-api/kinds.ts';
import { clusterStackRelease } from '../api/cluster-stack-release.ts';
import { clusterStackLabels } from '../api/names.ts';
import type { Draft } from '../../api/meta.ts';
import { apiVersionOf } from '../../api/meta.ts';
import { access } from '../controllers/clusteraddon/access.ts';
import type { AdmissionAnswer } from '../../runtime/admission/admission.ts';
import { ApiError } from '../../runtime/client/errors.ts';
import { FakeCluster } from '../../testing/fake/fake-cluster.ts';
import { clusterAddonAdmissions } from './cluster-addon-admissions.ts';

let server: FakeCluster;

beforeEach(async () => {
  server = new FakeCluster({ access });
  await release('docker-scs-1-35-v1', 'docker-scs', 'v1.35.6');
  await release('docker-scs-1-37-v1', 'docker-scs', 'v1.37.0');
  await server.seed(capiClusterClass, {
    apiVersion: apiVersionOf(capiClusterClass),
    kind: 'ClusterClass',
    metadata: { namespace: 'stacks', name: 'plain' },
  });
});

async function release(name: string, stack: string, kubernetesVersion: string): Promise<void> {
  const labels = { [clusterStackLabels.release]: name, [clusterStackLabels.stack]: stack };
  await server.seed(capiClusterClass, {
    apiVersion: apiVersionOf(capiClusterClass),
    kind: 'ClusterClass',
    metadata: { namespace: 'stacks', name, labels },
  });
  await server.seed(clusterStackRelease, {
    apiVersion: apiVersionOf(clusterStackRelease),
    kind: 'ClusterStackRelease',
    metadata: { namespace: 'stacks', name },
    spec: {},
    status: { kubernetesVersion, ready: true },
  });
}

const cluster = (name: string, version?: string): Draft =>
  ({
    apiVersion: 'cluster.x-k8s.io/v1beta2',
    kind: 'Cluster',
    metadata: { namespace: 'default', name: 'blue' },
    spec: { topology: { classRef: { name, namespace: 'stacks' }, version } },
  }) as Draft;

async function ask(path: string, object: Draft, oldObject?: Draft): Promise<AdmissionAnswer> {
  const handler = clusterAddonAdmissions(server)[path];
  if (handler === undefined) throw new Error(`there is no rule at ${path}`);
  const kind = { group: 'cluster.x-k8s.io', version: 'v1beta2', kind: object.kind };
  const operation = oldObject === undefined ? 'CREATE' : 'UPDATE';
  const request = { uid: 'u', kind, operation, object, dryRun: true, oldObject } as const;
  return handler(request, { signal: new AbortController().signal });
}

const mutate = '/mutate-cluster-x-k8s-io-v1beta2-cluster';
const validate = '/validate-cluster-x-k8s-io-v1beta2-cluster';

test('A Cluster with a class of another namespace gets the version of its release, and no change the second time', async () => {
  const wanted = cluster('docker-scs-1-35-v1', 'v1.35.6');
  expect(await ask(mutate, cluster('docker-scs-1-35-v1'))).toEqual({ allowed: true, object: wanted });
  expect(await ask(mutate, wanted)).toEqual({ allowed: true });
  expect(await ask(validate, wanted)).toMatchObject({ allowed: true, warnings: [] });
});

test('Another version, and a class two minors ahead, are refused with the allowed values', async () => {
  const wrong = await ask(validate, cluster('docker-scs-1-35-v1', 'v1.35.1'));
  expect(wrong).toMatchObject({ allowed: false, message: expect.stringContaining('set it to v1.35.6') });
  const old = cluster('docker-scs-1-35-v1', 'v1.35.6');
  const far = await ask(validate, cluster('docker-scs-1-37-v1', 'v1.37.0'), old);
  expect(far).toMatchObject({ allowed: false, message: expect.stringContaining('1.35 or 1.36') });
});

test('Clusters of classes that no release created are admitted unchanged', async () => {
  expect(await ask(mutate, cluster('plain'))).toEqual({ allowed: true });
  expect(await ask(validate, cluster('plain', 'v1.20.0'))).toMatchObject({ allowed: true });
  expect(await ask(validate, cluster('absent', 'v1.20.0'))).toMatchObject({ allowed: true });
});

test('A Cluster is admitted with a warning while the release of its class cannot be found out', async () => {
  for (const path of [mutate, validate]) {
    server.failNext({ verb: 'get' }, new ApiError(429, 'TooManyRequests', 'the server is busy'));
    expect(await ask(path, cluster('plain'))).toMatchObject({
      allowed: true,
      warnings: [expect.stringContaining('the server is busy')],
    });
  }
});

test('The rules write nothing', async () => {
  await ask(mutate, cluster('docker-scs-1-35-v1'));
  await ask(validate, cluster('docker-scs-1-35-v1', 'v1.35.6'));
  expect(server.calls.map(({ verb }) => verb)).not.toContain('patch');
  expect(new Set(server.calls.map(({ verb }) => verb))).toEqual(new Set(['get']));
});

test('A ClusterAddon of a Cluster in another namespace is refused', async () => {
  const addon = {
    apiVersion: 'clusterstack.x-k8s.io/v1alpha1',
    kind: 'ClusterAddon',
    metadata: { namespace: 'default', name: 'cluster-addon-blue' },
    spec: { clusterRef: { kind: 'Cluster', name: 'blue', namespace: 'other' } },
  } as Draft;
  const found = await ask('/validate-clusterstack-x-k8s-io-v1alpha1-clusteraddon', addon);
  expect(found).toMatchObject({
    allowed: false,
    message: expect.stringContaining('spec.clusterRef.namespace "other"'),
  });
});
