import { setTimeout as pause } from 'node:timers/promises';
import type { PlainObject } from '../../../e2e/cluster/kubernetes-client.ts';
import { KubernetesClient } from '../../../e2e/cluster/kubernetes-client.ts';
import { infrastructureVersion } from './infrastructure.ts';

const capi = 'cluster.x-k8s.io/v1beta2';

interface Owned {
  readonly ownerReferences?: readonly { readonly kind: string; readonly name: string }[];
}

/**
 * Stands in for machines: as soon as a ContractMachine has its bootstrap data, there is a Node in the workload cluster with
 * its provider ID, and it calls itself provisioned. Checks five times a second until aborted. Failures are retried.
 */
export async function runMachines(client: KubernetesClient, signal: AbortSignal): Promise<void> {
  while (!signal.aborted) {
    const machines = await client.list(infrastructureVersion, 'ContractMachine').catch(() => []);
    for (const machine of machines) {
      const done = (machine.status?.initialization as { provisioned?: boolean } | undefined)?.provisioned === true;
      // A tenant that does not answer yet, or an object that has just gone, is met again.
      if (!done) await join(client, machine).catch(() => undefined);
    }
    await pause(200, undefined, { signal }).catch(() => undefined);
  }
}

async function join(client: KubernetesClient, machine: PlainObject): Promise<void> {
  const { namespace = '', name = '', labels = {} } = machine.metadata ?? {};
  const owner = (machine.metadata as Owned).ownerReferences?.find(({ kind }) => kind === 'Machine');
  if (owner === undefined) return;
  const found = await client.read({ apiVersion: capi, kind: 'Machine', namespace, name: owner.name });
  const { bootstrap, version } = (found?.spec ?? {}) as { bootstrap?: { dataSecretName?: string }; version?: string };
  if (bootstrap?.dataSecretName === undefined) return;
  const secret = `${labels['cluster.x-k8s.io/cluster-name'] ?? ''}-kubeconfig`;
  const kubeconfig = (await client.read({ apiVersion: 'v1', kind: 'Secret', namespace, name: secret }))?.data?.value;
  if (kubeconfig === undefined) return;
  const providerID = `contract://${namespace}/${name}`;
  const workload = new KubernetesClient(Buffer.from(kubeconfig, 'base64').toString());
  await workload.apply([{ apiVersion: 'v1', kind: 'Node', metadata: { name }, spec: { providerID } }], 0);
  const empty = { machineID: '', systemUUID: '', bootID: '', kernelVersion: '', osImage: '', kubeProxyVersion: '' };
  const status = {
    conditions: [
      { type: 'Ready', status: 'True', reason: 'StandIn', message: '' },
      ...['MemoryPressure', 'DiskPressure', 'PIDPressure'].map((type) => ({
        ...{ type, status: 'False', reason: 'StandIn', message: '' },
      })),
    ],
    nodeInfo: {
      ...{ ...empty, kubeletVersion: version ?? '', containerRuntimeVersion: '' },
      ...{ operatingSystem: 'linux', architecture: 'amd64' },
    },
  };
  await workload.merge({ apiVersion: 'v1', kind: 'Node', name }, { status }, 'status');
  const address = { apiVersion: infrastructureVersion, kind: 'ContractMachine', namespace, name };
  await client.merge(address, { spec: { providerID } });
  await client.merge(address, { status: { initialization: { provisioned: true } } }, 'status');
}
