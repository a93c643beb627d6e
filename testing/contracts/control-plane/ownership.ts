import { expect, test } from '@jest/globals';
import type { ContractCluster } from './contract-cluster.ts';
import { conditionOf } from './contract-cluster.ts';

/** Rule: a control plane waits for its Cluster and says so; all that core needs comes by itself then. */
export function ownership(plain: () => ContractCluster): void {
  test('A control plane without an owner reports that it waits for a Cluster', async () => {
    const found = plain();
    await found.apply(found.controlPlaneManifest());
    const orphan = await found.until(found.controlPlane, 'a word about the Cluster', (object) =>
      (object?.status?.conditions ?? []).some(
        ({ status, message = '' }) => status !== 'True' && /Cluster\b/.test(message),
      ),
    );
    expect(conditionOf(orphan, 'Available')?.status).not.toBe('True');
    expect(orphan.status).not.toMatchObject({ initialization: { controlPlaneInitialized: true } });
    expect(orphan.status).toMatchObject({ externalManagedControlPlane: true });
  });

  test('A Cluster with nothing but the control plane becomes initialized, available and connected', async () => {
    const found = plain();
    await found.apply(found.clusterManifest());
    await found.available();
    const cluster = await found.read(found.cluster);
    const controlPlane = await found.read(found.controlPlane);
    expect(controlPlane.metadata).toMatchObject({
      labels: { 'cluster.x-k8s.io/cluster-name': found.name },
      ownerReferences: [{ kind: 'Cluster', name: found.name }],
    });
    expect(cluster.spec?.controlPlaneEndpoint).toEqual(controlPlane.spec?.controlPlaneEndpoint);
    expect(cluster.status).toMatchObject({ initialization: { controlPlaneInitialized: true } });
    expect(
      (await (await found.workload()).read({ apiVersion: 'v1', kind: 'Namespace', name: 'kube-system' }))?.kind,
    ).toBe('Namespace');
  });

  test('Both forms of the status agree, and core Cluster API shows the counts of the control plane', async () => {
    const found = plain();
    const isSettled = (object: { readonly status?: Readonly<Record<string, unknown>> } | undefined): boolean =>
      object?.status?.readyReplicas === 1;
    const controlPlane = await found.until(found.controlPlane, 'one ready replica', isSettled);
    const { status, spec } = controlPlane;
    expect(status).toMatchObject({
      ...{ replicas: 1, readyReplicas: 1, availableReplicas: 1, upToDateReplicas: 1, updatedReplicas: 1 },
      ...{ unavailableReplicas: 0, version: spec?.version, versions: [{ version: spec?.version, replicas: 1 }] },
      ...{ initialized: true, ready: true, initialization: { controlPlaneInitialized: true } },
    });
    for (const condition of status?.conditions ?? [])
      expect(condition).toMatchObject({ reason: expect.stringMatching(/./) });
    for (const type of ['RollingOut', 'ScalingUp', 'ScalingDown', 'Deleting', 'Paused'])
      expect({ type, status: conditionOf(controlPlane, type)?.status }).toEqual({ type, status: 'False' });
    const counted = await found.until(found.cluster, 'the counts', ({ status: of } = {}) => {
      const { replicas, readyReplicas } = (of?.controlPlane ?? {}) as Readonly<Record<string, unknown>>;
      return replicas === 1 && readyReplicas === 1;
    });
    expect(counted.status?.controlPlane).toMatchObject({ availableReplicas: 1, upToDateReplicas: 1 });
  });
}
