import { kinds } from '../../api/core/kinds.ts';
import type { Deployment } from '../../api/core/kinds.ts';
import type { Key, KindRef } from '../../api/meta.ts';
import { dataKeys, labels, project, tenantObjects } from '../../api/names.ts';
import type { TenantControlPlane } from '../../api/steward/v1alpha1/tenant-control-plane.ts';
import { openCluster } from '../../runtime/client/http-cluster.ts';
import type { Cluster } from '../../runtime/client/cluster.ts';
import { parseKubeconfig } from '../../runtime/client/kubeconfig.ts';
import { isTrue } from '../../runtime/reconcile/conditions.ts';
import { idOf, keyOf } from '../scale/fleet/scale-fleet.ts';
import type { ScaleFleet } from '../scale/fleet/scale-fleet.ts';
import type { WantedTenant } from './persons.ts';

/** What tenants own in the management cluster. */
const outside: readonly KindRef[] = [
  ...[kinds.Deployment, kinds.Service, kinds.Secret, kinds.ConfigMap],
  ...[kinds.PodDisruptionBudget, kinds.NetworkPolicy],
];

/** What Steward creates inside a tenant. */
const inside: readonly KindRef[] = [
  ...[kinds.Deployment, kinds.DaemonSet, kinds.ConfigMap, kinds.Service, kinds.ServiceAccount],
  ...[kinds.ClusterRole, kinds.ClusterRoleBinding],
];

/** Tenants that are not as they were asked for, each with what is missing, and those that should have gone. */
export function notAsWanted(fleet: ScaleFleet, wanted: readonly WantedTenant[]): readonly string[] {
  const ids = new Set(wanted.map(({ key }) => idOf(key)));
  const left = fleet.tenants
    .list()
    .map(keyOf)
    .filter((key) => !ids.has(idOf(key)));
  return [
    ...left.map((key) => `${idOf(key)} has been deleted and is there`),
    ...wanted.flatMap(({ key, inflight }) => {
      const id = idOf(key);
      const tenant = fleet.tenants.get({ namespace: key.namespace ?? '', name: key.name });
      const deployment = fleet.deployments.get({ namespace: key.namespace ?? '', name: key.name });
      if (tenant === undefined) return [`${id} is missing`];
      const why = notReady(tenant) ?? notRolled(deployment, inflight);
      return why === undefined ? [] : [`${id} ${why}`];
    }),
  ];
}

function notReady({ metadata, status }: TenantControlPlane): string | undefined {
  if (metadata.deletionTimestamp !== undefined) return 'is being deleted';
  if (status?.observedGeneration !== metadata.generation) return 'has a status of an older generation';
  return isTrue(status.conditions, 'Ready') ? undefined : 'is not Ready';
}

function notRolled(deployment: Deployment | undefined, inflight: number | undefined): string | undefined {
  if (deployment === undefined) return 'has no Deployment';
  const { metadata, spec, status } = deployment;
  const args = spec?.template.spec?.containers.find(({ name }) => name === 'kube-apiserver')?.args ?? [];
  if (inflight !== undefined && !args.includes(`--max-requests-inflight=${inflight}`)) return 'lacks the last change';
  return status?.observedGeneration === metadata.generation ? undefined : 'has pods of an older generation';
}

/** The names of all objects of each tenant, in the management cluster and inside, with `<tenant>` in place of its own name. */
export async function belongingsOf(
  { admin }: ScaleFleet,
  tenants: readonly Key[],
): Promise<ReadonlyMap<string, readonly string[]>> {
  const all = new Map<string, string[]>(tenants.map((key) => [idOf(key), []]));
  for (const kind of outside) {
    const { items } = await admin.list(kind, { labelSelector: labels.name, metadataOnly: true });
    for (const { metadata } of items) {
      const name = metadata.labels?.[labels.name] ?? '';
      const id = idOf({ namespace: metadata.namespace, name });
      const known = all.get(id) ?? [];
      all.set(id, [...known, `${kind.kind} ${metadata.name.replaceAll(name, '<tenant>')}`]);
    }
  }
  for (const key of tenants) all.get(idOf(key))?.push(...(await insideOf(admin, key)));
  return all;
}

async function insideOf(admin: Cluster, key: Key): Promise<readonly string[]> {
  await using tenant = await openTenant(admin, key);
  const names: string[] = [];
  for (const kind of inside) {
    const labelSelector = `${labels.project}=${project}`;
    const { items } = await tenant.cluster.list(kind, { labelSelector, metadataOnly: true });
    names.push(...items.map(({ metadata }) => `inside: ${kind.kind} ${metadata.namespace ?? ''}/${metadata.name}`));
  }
  return names;
}

/** A tenant's API server, for its administrator. */
export async function openTenant(
  admin: Cluster,
  { namespace, name }: Key,
): Promise<AsyncDisposable & { readonly cluster: Cluster }> {
  const secret = await admin.get(kinds.Secret, { namespace, name: tenantObjects(name).adminKubeconfig });
  const text = Buffer.from(secret?.data?.[dataKeys.adminKubeconfig.admin] ?? '', 'base64').toString('utf8');
  const cluster = openCluster(parseKubeconfig(text), { name: `${namespace ?? ''}-${name}` });
  return { cluster, [Symbol.asyncDispose]: () => cluster.close() };
}
