import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { kinds } from '../../../api/core/kinds.ts';
import type { Manifest } from '../../../api/meta.ts';
import { dataStore } from '../../../api/steward/v1alpha1/data-store.ts';
import { tenantControlPlane } from '../../../api/steward/v1alpha1/tenant-control-plane.ts';
import type { Cluster } from '../../../runtime/client/cluster.ts';
import { openCluster } from '../../../runtime/client/http-cluster.ts';
import { parseKubeconfig } from '../../../runtime/client/kubeconfig.ts';
import { EventRecorder, microTime } from '../../../runtime/observe/event-recorder.ts';
import { ObjectMemory } from '../../../runtime/cache/object-memory.ts';
import { systemClock } from '../../../runtime/clock.ts';
import { silent } from '../../../runtime/observe/logger.ts';
import { containerStatus, troubledPod } from '../../../testing/builders/troubled-pod.ts';
import { startApiServer } from '../../../testing/servers/api-server.ts';
import type { ApiServer } from '../../../testing/servers/api-server.ts';
import { installKinds } from '../../../testing/servers/install-kinds.ts';
import { clusterReader } from './cluster-reader.ts';
import { explain } from './explain.ts';
import { readSituation } from './read-situation.ts';

const own = { namespace: 'default', name: 'tenant' };

let server: ApiServer;
let admin: Cluster;

beforeAll(async () => {
  server = await startApiServer();
  admin = openCluster(parseKubeconfig(server.kubeconfig), { name: 'management' });
  // Without Cluster API: the kinds of its half do not exist.
  await installKinds(admin, [dataStore, tenantControlPlane]);
  await admin.create(tenantControlPlane, {
    apiVersion: 'steward.butlerlabs.dev/v1alpha1',
    kind: 'TenantControlPlane',
    metadata: own,
    spec: {
      dataStore: 'default',
      controlPlane: { service: { serviceType: 'ClusterIP' } },
      kubernetes: { version: 'v1.36.3' },
    },
  });
}, 120_000);

afterAll(async () => {
  await admin.close();
  await server.stop();
}, 60_000);

async function withStatus(kind: typeof kinds.Pod, manifest: Manifest & { readonly status?: unknown }): Promise<void> {
  const { status, ...rest } = manifest;
  await admin.create(kind, rest);
  const key = { namespace: 'default', name: manifest.metadata.name };
  await admin.patch(kind, key, { type: 'merge', body: { status } }, { subresource: 'status' });
}

describe('From a real API server', () => {
  test('everything is read that explains a pod without an image, and nothing that does not exist is an error', async () => {
    const now = new Date();
    await admin.create(kinds.Namespace, {
      apiVersion: 'v1',
      kind: 'Namespace',
      metadata: { name: 'steward-system' },
    });
    await admin.create(kinds.Lease, {
      apiVersion: 'coordination.k8s.io/v1',
      kind: 'Lease',
      metadata: { namespace: 'steward-system', name: 'steward.butlerlabs.dev' },
      spec: { holderIdentity: 'one', leaseDurationSeconds: 15, renewTime: microTime(now) },
    });
    const lastTransitionTime = now.toISOString().replace(/\.\d{3}Z$/, 'Z');
    const conditions = [
      { type: 'StoreReady', status: 'True', reason: 'Succeeded', message: '', lastTransitionTime },
      { type: 'ControlPlaneAvailable', status: 'False', reason: 'PodsNotReady', message: 'x', lastTransitionTime },
    ];
    await admin.patch(
      tenantControlPlane,
      own,
      { type: 'merge', body: { status: { observedGeneration: 1, conditions } } },
      { subresource: 'status' },
    );
    const image = 'registry.example.com/kube-apiserver:v1.36.3';
    const state = { waiting: { reason: 'ErrImagePull', message: 'not found' } };
    const pod = troubledPod({ containerStatuses: [containerStatus('kube-apiserver', { image, state })] });
    await withStatus(kinds.Pod, {
      ...pod,
      metadata: { ...pod.metadata, name: 'tenant-0' },
      spec: { containers: [{ name: 'kube-apiserver', image }] },
    });
    const events = new EventRecorder({
      cluster: admin,
      clock: systemClock,
      log: silent,
      controller: 'test',
      instance: 'test',
      memory: new ObjectMemory(),
    });
    const tcp = await admin.get(tenantControlPlane, own);
    if (tcp === undefined) throw new Error('there is no TenantControlPlane');
    events.record(tcp, { type: 'Warning', reason: 'PodsNotReady', message: 'no pod is ready' });
    await events.flush();

    const explanation = explain(await readSituation(clusterReader(admin), { ...own, now }));
    expect(explanation.unread).toEqual([]);
    expect(explanation.cause).toMatchObject({ reason: 'ImageMissing', where: 'Pod tenant-0' });
    expect(explanation.cause?.what).toContain(image);
    expect(explanation.timeline.map(({ text }) => text)).toContain('PodsNotReady: no pod is ready');
  });
});
