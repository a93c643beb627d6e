import { expect, test } from '@jest/globals';
import type { PlainObject } from '../../../e2e/cluster/kubernetes-client.ts';
import type { ContractCluster } from './contract-cluster.ts';
import { capiVersion } from './contract-cluster.ts';
import { infrastructureVersion } from './infrastructure.ts';
import type { Stage } from './stage.ts';

/**
 * Rule: the topology controller makes, changes and upgrades control planes from templates, and nothing writes against it.
 * @returns what creates the Cluster and its classes.
 */
export function topology(topo: () => ContractCluster, stage: () => Stage): () => Promise<void> {
  const workers = { apiVersion: capiVersion, kind: 'MachineDeployment' };

  const template = (name: string, spec: Readonly<Record<string, unknown>>): PlainObject => {
    const { apiVersion, kind } = stage().profile;
    const { namespace } = topo();
    return { apiVersion, kind: `${kind}Template`, metadata: { name, namespace }, spec: { template: { spec } } };
  };

  const clusterClass = (name: string, controlPlane: string): PlainObject => {
    const { profile } = stage();
    const { name: own, namespace } = topo();
    const reference = (apiVersion: string, kind: string, of = own): object => ({ apiVersion, kind, name: of });
    const workerClass = {
      class: 'default',
      bootstrap: { templateRef: reference('bootstrap.cluster.x-k8s.io/v1beta2', 'KubeadmConfigTemplate') },
      infrastructure: { templateRef: reference(infrastructureVersion, 'ContractMachineTemplate') },
    };
    return {
      ...{ apiVersion: capiVersion, kind: 'ClusterClass', metadata: { name, namespace } },
      spec: {
        kubernetesVersions: profile.versions,
        infrastructure: { templateRef: reference(infrastructureVersion, 'ContractClusterTemplate') },
        controlPlane: { templateRef: reference(profile.apiVersion, `${profile.kind}Template`, controlPlane) },
        workers: { machineDeployments: [workerClass] },
      },
    };
  };

  /** The control plane of the Cluster: its name is the topology controller's choice. */
  const made = async (): Promise<PlainObject> => {
    const { client } = stage().management;
    const { apiVersion, kind } = stage().profile;
    const [one, more] = await client.list(apiVersion, kind, topo().namespace);
    expect(more).toBeUndefined();
    return one ?? {};
  };
  const controlPlaneIs = async (what: string, is: (object: PlainObject) => boolean): Promise<PlainObject> => {
    const { apiVersion = '', kind = '', metadata } = await made();
    const address = topo().at(apiVersion, kind, metadata?.name);
    return topo().until(address, what, (object) => object !== undefined && is(object));
  };
  const untilWorkers = async (what: string, is: (object: PlainObject, version: string) => boolean): Promise<void> => {
    const { client } = stage().management;
    const [found] = await client.list(workers.apiVersion, workers.kind, topo().namespace);
    await topo().until(topo().at(workers.apiVersion, workers.kind, found?.metadata?.name), what, (object) => {
      const { template: of } = (object?.spec ?? {}) as { template?: { spec: { version: string } } };
      return object !== undefined && of !== undefined && is(object, of.spec.version);
    });
  };
  const askedOfWorkers = (wanted: string): Promise<void> =>
    untilWorkers(`being asked for ${wanted}`, (_, version) => version === wanted);
  const workersAre = (wanted: string): Promise<void> =>
    untilWorkers(wanted, ({ status }, version) => {
      const { availableReplicas, upToDateReplicas } = (status ?? {}) as Readonly<Record<string, unknown>>;
      return version === wanted && availableReplicas === 1 && upToDateReplicas === 1;
    });
  const reconciled = (): Promise<PlainObject> =>
    topo().until(topo().cluster, 'a reconciled topology', (object) => {
      const found = object?.status?.conditions?.find(({ type }) => type === 'TopologyReconciled');
      const { observedGeneration, status } = (found ?? {}) as { observedGeneration?: number; status?: string };
      return status === 'True' && observedGeneration === object?.metadata?.generation;
    });

  test('A Cluster of a class comes up with its workers, and is not written again while nothing changes', async () => {
    const found = topo();
    await found.available();
    await workersAre(stage().profile.versions[0]);
    await reconciled();
    const before = await controlPlaneIs('being ready', ({ status }) => status?.readyReplicas === 1);
    expect(before.metadata?.labels).toMatchObject({ 'topology.cluster.x-k8s.io/owned': '' });
    // The topology is reconciled again, because of a change that does not concern the control plane.
    const labels = { 'contract.example.com/seen': 'again' };
    const machineDeployments = [{ class: 'default', name: 'md', replicas: 1, metadata: { labels } }];
    await found.merge(found.cluster, { spec: { topology: { workers: { machineDeployments } } } });
    await reconciled();
    const after = await made();
    expect(after.metadata?.generation).toBe(before.metadata?.generation);
    expect(after.spec).toEqual(before.spec);
  });

  test('The replicas of the topology are set on the control plane', async () => {
    await topo().merge(topo().cluster, { spec: { topology: { controlPlane: { replicas: 2 } } } });
    await controlPlaneIs('two replicas', ({ status }) => status?.readyReplicas === 2);
    await reconciled();
  });

  test('A class with another template updates the control plane, which stays the same object', async () => {
    const { profile } = stage();
    const before = await made();
    await topo().apply(clusterClass('one', 'second'));
    const after = await controlPlaneIs('the other spec', ({ spec }) =>
      Object.entries(profile.changed).every(
        ([field]) => JSON.stringify(spec?.[field]) !== JSON.stringify(before.spec?.[field]),
      ),
    );
    expect(after.spec).toMatchObject(profile.changed);
    expect(after.metadata?.uid).toBe(before.metadata?.uid);
    await controlPlaneIs('being ready', ({ status, metadata }) => {
      const { observedGeneration, readyReplicas } = (status ?? {}) as Readonly<Record<string, unknown>>;
      return observedGeneration === metadata?.generation && readyReplicas === 2;
    });
    await reconciled();
  });

  test('A Cluster that changes to another class keeps its control plane', async () => {
    const before = await made();
    await topo().merge(topo().cluster, { spec: { topology: { classRef: { name: 'other' } } } });
    await controlPlaneIs('the spec of the other class', ({ spec }) =>
      Object.keys(stage().profile.changed).some(
        (field) => JSON.stringify(spec?.[field]) !== JSON.stringify(before.spec?.[field]),
      ),
    );
    await reconciled();
    expect((await made()).metadata?.uid).toBe(before.metadata?.uid);
  });

  test('A version two minors ahead is reached through the one between, and the workers follow the control plane', async () => {
    const [, between, last] = stage().profile.versions;
    await topo().merge(topo().cluster, { spec: { topology: { version: last } } });
    const upgraded = async (): Promise<void> => {
      for (const version of [between, last]) {
        await controlPlaneIs(`being asked for ${version}`, ({ spec }) => spec?.version === version);
        await controlPlaneIs(version, ({ status }) => status?.version === version);
      }
    };
    const whenWorkersAreAsked = askedOfWorkers(last).then(async () => (await made()).status);
    const [status] = await Promise.all([whenWorkersAreAsked, upgraded()]);
    expect(status).toMatchObject({ version: last, versions: [{ version: last }] });
    // Workers may be older by more than one minor, and skip the one between.
    await workersAre(last);
    await reconciled();
  });

  return async () => {
    const { profile } = stage();
    const found = topo();
    const managed = { annotations: { 'cluster.x-k8s.io/managed-by': profile.provider } };
    const { apiVersion, kind, name, namespace = '' } = found.cluster;
    await found.apply(
      ...found.workerTemplates(),
      {
        ...{ apiVersion: infrastructureVersion, kind: 'ContractClusterTemplate', metadata: { name, namespace } },
        spec: { template: { metadata: managed, spec: {} } },
      },
      template('first', profile.spec),
      template('second', { ...profile.spec, ...profile.changed }),
      clusterClass('one', 'first'),
      clusterClass('other', 'first'),
      {
        ...{ apiVersion, kind, metadata: { name, namespace } },
        spec: {
          topology: {
            classRef: { name: 'one' },
            version: profile.versions[0],
            controlPlane: { replicas: 1 },
            workers: { machineDeployments: [{ class: 'default', name: 'md', replicas: 1 }] },
          },
        },
      },
    );
  };
}
