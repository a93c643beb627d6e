import { setTimeout as pause } from 'node:timers/promises';
import type { Deployment } from '../../../../api/core/kinds.ts';
import { kinds } from '../../../../api/core/kinds.ts';
import { labels } from '../../../../api/names.ts';
import type { KubernetesClient } from '../../../../e2e/cluster/kubernetes-client.ts';
import type { Cluster } from '../../../../runtime/client/cluster.ts';
import { openCluster } from '../../../../runtime/client/http-cluster.ts';
import { parseKubeconfig } from '../../../../runtime/client/kubeconfig.ts';
import { startEtcdDataStore } from '../../stores/etcd/data-store.ts';
import type { ProcessPod } from '../../../servers/process-pod.ts';
import { startProcessPod } from '../../../servers/process-pod.ts';
import type { ControlPlaneName, Hosting, HostingPlace } from '../profile.ts';

/** One Deployment's process. */
interface Running {
  readonly template: string;
  readonly pod: Promise<ProcessPod>;
}

const tenantKind = { apiVersion: 'steward.butlerlabs.dev/v1alpha1', kind: 'TenantControlPlane' };
const keyOf = ({ namespace, name }: ControlPlaneName): string => `${namespace}/${name}`;

/**
 * A DataStore on a real etcd, and a stand-in for what makes pods of Deployments: each Deployment of a control plane is one
 * kube-apiserver of the version that its image says, at the address of its Service.
 */
export async function startStewardHosting({ client, kubeconfig }: HostingPlace): Promise<Hosting> {
  const etcd = await startEtcdDataStore();
  const { apiVersion, kind, spec } = etcd.dataStore;
  await client.apply([{ apiVersion, kind, metadata: { name: 'default' }, spec: { ...spec } }]);
  const cluster = openCluster(parseKubeconfig(kubeconfig), { name: 'management' });
  const pods = new Map<string, Running>();
  const cut = new Set<string>();
  const stop = new AbortController();
  const end = async (key: string): Promise<void> => {
    const running = pods.get(key);
    pods.delete(key);
    // One that never came up has nothing to end.
    await running?.pod.then((pod) => pod[Symbol.asyncDispose]()).catch(() => undefined);
  };
  const look = async (): Promise<void> => {
    const { items } = await cluster.list(kinds.Deployment, { labelSelector: labels.name });
    const found = new Map(items.map((item) => [keyOf(nameOf(item)), item]));
    for (const key of pods.keys()) if (!found.has(key)) await end(key);
    for (const [key, deployment] of found) {
      if (cut.has(key)) continue;
      const template = JSON.stringify(deployment.spec?.template);
      if (pods.get(key)?.template !== template) {
        await end(key);
        const pod = start(cluster, deployment);
        // A Secret that is not there yet is waited for, as a kubelet does.
        pod.catch(() => pods.delete(key));
        pods.set(key, { template, pod });
      }
      const told = pods.get(key)?.pod.then(() => tellReady(cluster, deployment));
      // A pod that did not start has been removed above; a status that could not be written is written at the next check.
      told?.catch(() => undefined);
    }
  };
  const watching = (async () => {
    while (!stop.signal.aborted) {
      await look().catch(() => undefined);
      await pause(200, undefined, { signal: stop.signal }).catch(() => undefined);
    }
  })();
  return {
    async cutOff(controlPlane) {
      cut.add(keyOf(controlPlane));
      await end(keyOf(controlPlane));
    },
    async takeAway(controlPlane) {
      await forceAway(client, controlPlane);
    },
    rotate: ({ namespace, name }) =>
      client.delete({ apiVersion: 'v1', kind: 'Secret', namespace, name: `${name}-admin-kubeconfig` }),
    async podLabels(controlPlane) {
      const deployment = await cluster.get(kinds.Deployment, controlPlane);
      return deployment?.spec?.template.metadata?.labels ?? {};
    },
    async [Symbol.asyncDispose]() {
      stop.abort();
      await watching;
      for (const key of [...pods.keys()]) await end(key);
      await cluster.close();
      await etcd[Symbol.asyncDispose]();
    },
  };
}

const nameOf = ({ metadata }: Deployment): ControlPlaneName => ({
  ...{ namespace: metadata.namespace, name: metadata.name },
});

async function start(cluster: Cluster, deployment: Deployment): Promise<ProcessPod> {
  const { namespace, name } = nameOf(deployment);
  const [service, authority] = await Promise.all([
    cluster.get(kinds.Service, { namespace, name }),
    cluster.get(kinds.Secret, { namespace, name: `${name}-ca` }),
  ]);
  const containers = deployment.spec?.template.spec?.containers ?? [];
  const image = containers.find((container) => container.name === 'kube-apiserver')?.image ?? '';
  const ca = Buffer.from(authority?.data?.['ca.crt'] ?? '', 'base64').toString();
  const address = service?.spec?.clusterIP ?? '';
  return startProcessPod({ cluster, deployment, reader: { ca }, address, kubernetes: image.split(':').at(-1) ?? '' });
}

/** What the Deployment's controller would report. */
async function tellReady(cluster: Cluster, deployment: Deployment): Promise<void> {
  const { generation = 0 } = deployment.metadata;
  const replicas = deployment.spec?.replicas ?? 1;
  const { status } = deployment as { status?: { observedGeneration?: number; replicas?: number } };
  if (status?.observedGeneration === generation && (status.replicas ?? 0) === replicas) return;
  const counts = { replicas, updatedReplicas: replicas, readyReplicas: replicas, availableReplicas: replicas };
  const body = { status: { observedGeneration: generation, ...counts } };
  await cluster.patch(kinds.Deployment, nameOf(deployment), { type: 'merge', body }, { subresource: 'status' });
}

/** A person deletes the TenantControlPlane with its finalizers. */
async function forceAway(client: KubernetesClient, { namespace, name }: ControlPlaneName): Promise<void> {
  const address = { ...tenantKind, namespace, name };
  await client.delete(address);
  await client.merge(address, { metadata: { finalizers: null } }).catch(() => undefined);
}
