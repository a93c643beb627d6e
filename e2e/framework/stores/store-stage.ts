import path from 'node:path';

import { expect } from '@jest/globals';

import type { PlainObject } from '../../cluster/kubernetes-client.ts';
import type { ManagementCluster } from '../../cluster/management-cluster.ts';
import { storeImageArchive } from '../../tools/store-images.ts';
import { logStep } from '../log.ts';
import { minutes } from '../minutes.ts';
import { podMemory } from '../pod-memory.ts';
import type { StoreTrial } from '../store-trials.ts';
import { TenantStage } from '../tenant-stage.ts';
import { machineKubelet } from '../workers/tenant-worker.ts';

/** Where quick-start stores and the manager run. */
export const storeNamespace = 'steward-system';

const documented = path.join(import.meta.dirname, '..', '..', 'fixtures', 'user-manifests');

interface ContainerRuns {
  readonly name: string;
  readonly restartCount: number;
}

/** Pods with how often those of their containers were started that `counts` takes. kine is among the init containers. */
export function podRuns(pods: readonly PlainObject[], counts: (container: string) => boolean = () => true): string {
  const lines = pods.map(({ metadata, status }) => {
    const all = [...((status?.containerStatuses ?? []) as []), ...((status?.initContainerStatuses ?? []) as [])];
    const counted = (all as readonly ContainerRuns[]).filter(({ name }) => counts(name));
    return [metadata?.uid, ...counted.map(({ name, restartCount }) => `${name} ${restartCount}`).toSorted()].join();
  });
  return lines.toSorted().join('\n');
}

/** A management cluster on which quick-start stores are tried, with a namespace for tenants on them. */
export class StoreStage {
  readonly cluster: ManagementCluster;
  readonly stage: TenantStage;
  /** The manager's pod with how often it was started, as it was at first. */
  readonly manager: string;

  private constructor(cluster: ManagementCluster, manager: string) {
    this.cluster = cluster;
    this.manager = manager;
    this.stage = new TenantStage(cluster, 'tenants');
  }

  static async open(cluster: ManagementCluster): Promise<StoreStage> {
    await cluster.apply([{ apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'tenants' } }]);
    return new StoreStage(cluster, await managerRuns(cluster));
  }

  /** The manager's pod with how often it was started: the same as long as nothing was restarted. */
  managerRuns(): Promise<string> {
    return managerRuns(this.cluster);
  }

  async kubectl(args: readonly string[]): Promise<string> {
    return (await this.cluster.kubectl(args)).stdout;
  }

  /** A tenant on a store; the first one of each takes workers in. */
  tenant(trial: Pick<StoreTrial, 'dataStore'>, name: string, takesWorkers = false): PlainObject {
    const { services, pods } = this.cluster.network;
    return this.stage.manifest(name, {
      dataStore: trial.dataStore,
      kubernetes: { version: 'v1.36.3', kubelet: takesWorkers ? machineKubelet : { cgroupfs: 'cgroupfs' } },
      ...(takesWorkers && {
        controlPlane: { deployment: { replicas: 1 }, service: { serviceType: 'NodePort' } },
        networkProfile: { serviceCidr: services, podCidr: pods },
      }),
    });
  }

  /** Writes and reads in a tenant; the API server may still be reconnecting. */
  async serves(name: string, key: string): Promise<void> {
    const client = await this.stage.open(name);
    const note = { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: key, namespace: 'default' } };
    await client.apply([{ ...note, data: { of: name } }], 2 * minutes);
    const at = { apiVersion: 'v1', kind: 'ConfigMap', name: key, namespace: 'default' };
    expect((await client.read(at))?.data).toEqual({ of: name });
  }

  /** What pods hold in memory, for a person. */
  async memory(pods: readonly PlainObject[]): Promise<string> {
    const sums = await Promise.all(pods.map(({ metadata }) => podMemory(this.cluster, metadata?.uid ?? '')));
    return sums
      .map((sum) => [...sum].map(([command, mebibytes]) => `${command} ${mebibytes.toFixed(0)}`).join(', '))
      .join('; ');
  }

  /** Applies the DataStore as its users have written it. Its fields are the same but for those that only ours has. */
  async takesTheirs(name: string): Promise<void> {
    const theirs = path.join(documented, `datastore-${name}.yaml`);
    const store = { apiVersion: 'steward.butlerlabs.dev/v1alpha1', kind: 'DataStore', name };
    const { etcd, ...before } = (await this.cluster.client.read(store))?.spec ?? {};
    await this.kubectl(['apply', '-f', theirs]);
    expect((await this.cluster.client.read(store))?.spec).toEqual(before);
    if (etcd !== undefined) await this.cluster.client.merge(store, { spec: { etcd } });
  }

  /** Makes the image of a store known to the node, where it is not one of Kubernetes. */
  async loadImage(store: StoreTrial['image']): Promise<void> {
    if (store === undefined) return;
    const progress = (line: string): void => {
      logStep(store, line);
    };
    await this.cluster.loadImage((await storeImageArchive(store, { progress })).path);
  }
}

async function managerRuns(cluster: ManagementCluster): Promise<string> {
  const selector = 'app.kubernetes.io/component=controller-manager';
  return podRuns(await cluster.client.list('v1', 'Pod', storeNamespace, selector));
}
