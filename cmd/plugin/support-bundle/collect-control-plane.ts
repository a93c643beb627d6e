import { capiCluster } from '../../../api/cluster-api/kinds.ts';
import { kinds } from '../../../api/core/kinds.ts';
import type { Condition, KindRef, NamespacedResource } from '../../../api/meta.ts';
import { labels } from '../../../api/names.ts';
import { clusterOf } from '../control-plane/find-control-plane.ts';
import type { ControlPlane } from '../control-plane/find-control-plane.ts';
import { table } from '../output/table.ts';
import type { BundleFiles } from './bundle-files.ts';
import { collectLogs } from './collect-logs.ts';
import type { LogReading } from './collect-logs.ts';

/** Kinds of objects that carry the name of the control plane as a label. Of Secrets, only metadata is read. */
const labeled: readonly KindRef<NamespacedResource>[] = [
  kinds.Deployment,
  kinds.ReplicaSet,
  kinds.Pod,
  kinds.Service,
  kinds.EndpointSlice,
  kinds.Ingress,
  kinds.NetworkPolicy,
  kinds.PodDisruptionBudget,
  kinds.HorizontalPodAutoscaler,
  kinds.ConfigMap,
  kinds.Secret,
];

interface CoreEvent extends NamespacedResource {
  readonly involvedObject?: { readonly name?: string };
}

const coreEvent: KindRef<CoreEvent> = { group: '', version: 'v1', kind: 'Event', plural: 'events', namespaced: true };

/** Adds what the management cluster knows of one control plane. */
export async function collectControlPlane(
  files: BundleFiles,
  plane: ControlPlane,
  { logs, ...reading }: LogReading & { readonly logs: boolean },
): Promise<void> {
  const { namespace, name, tenant, parent } = plane;
  const { cluster, signal } = reading;
  const folder = `control-planes/${namespace}/${name}`;
  if (tenant !== undefined) files.addObjects(`${folder}/tenantcontrolplane.yaml`, [tenant]);
  if (parent !== undefined) files.addObjects(`${folder}/stewardcontrolplane.yaml`, [parent]);
  await files.addText(`${folder}/conditions.txt`, conditionsText((tenant ?? parent)?.status?.conditions ?? []));
  const owner = parent === undefined ? undefined : clusterOf(parent);
  if (owner !== undefined) {
    await files.attempt(`Cluster ${owner}`, async () => {
      const found = await cluster.get(capiCluster, { namespace, name: owner }, { signal });
      files.addObjects(`${folder}/cluster.yaml`, found === undefined ? [] : [found]);
    });
  }
  const known = new Set([name]);
  for (const kind of labeled) {
    await files.attempt(`${kind.plural} of ${namespace}/${name}`, async () => {
      const labelSelector = `${labels.name}=${name}`;
      const metadataOnly = kind.kind === kinds.Secret.kind;
      const { items } = await cluster.list(kind, { namespace, labelSelector, metadataOnly, signal });
      files.addObjects(`${folder}/${kind.plural}.yaml`, items);
      for (const { metadata } of items) known.add(metadata.name);
      if (kind.kind !== kinds.Pod.kind || !logs) return;
      await collectLogs(files, folder, { pods: items, owner: name }, reading);
    });
  }
  await files.attempt(`Events of ${namespace}/${name}`, async () => {
    const { items } = await cluster.list(coreEvent, { namespace, signal });
    files.addObjects(
      `${folder}/events.yaml`,
      items.filter(({ involvedObject }) => known.has(involvedObject?.name ?? '')),
    );
  });
}

function conditionsText(conditions: readonly Condition[]): string {
  const columns = [
    { title: 'TYPE', value: ({ type }: Condition) => type },
    { title: 'STATUS', value: ({ status }: Condition) => status },
    { title: 'REASON', value: ({ reason }: Condition) => reason },
    { title: 'SINCE', value: ({ lastTransitionTime }: Condition) => lastTransitionTime },
    { title: 'MESSAGE', value: ({ message }: Condition) => message },
  ];
  return conditions.length === 0 ? '' : table(conditions, columns, { wide: true, colors: false });
}
