import type { StewardControlPlane } from '../../../api/controlplane/steward-control-plane.ts';
import { stewardControlPlane } from '../../../api/controlplane/steward-control-plane.ts';
import { tenantControlPlane } from '../../../api/steward/v1alpha1/tenant-control-plane.ts';
import type { Context } from '../../../runtime/reconcile/controller.ts';
import type { CapiCluster } from '../../../api/cluster-api/kinds.ts';
import { capiCluster } from '../../../api/cluster-api/kinds.ts';
import { capiGroup, clusterNameLabel, pausedAnnotation } from '../../../api/cluster-api/names.ts';
import { kinds } from '../../../api/core/kinds.ts';
import { clusterSecretNames } from '../secrets/cluster-secrets.ts';
import type { Dependencies } from '../dependencies.ts';

/** All that is needed to look. */
type Reading = Pick<Dependencies, 'cluster'>;

/** A Cluster to work for, or why there is none, as text. */
export type Served =
  | { readonly cluster: CapiCluster; readonly others: readonly string[] }
  | { readonly cluster?: undefined; readonly why: string };

/**
 * Names of the Clusters that may own a control plane. Cluster API does not always make one the controlling owner: the kind
 * decides, then the label.
 */
export function clusterNamesOf(scp: StewardControlPlane): readonly string[] {
  const owners = (scp.metadata.ownerReferences ?? [])
    .filter(({ kind, apiVersion }) => kind === capiCluster.kind && apiVersion.startsWith(`${capiGroup}/`))
    .map(({ name }) => name);
  if (owners.length > 0) return [...new Set(owners)];
  const labeled = scp.metadata.labels?.[clusterNameLabel];
  return labeled === undefined ? [] : [labeled];
}

/**
 * The Cluster that a StewardControlPlane serves. Of several that name it the one stays that its TenantControlPlane was made
 * for: kubeconfig, networks and workers are that one's. Before there is one, none of them is chosen.
 */
export async function servedCluster(
  deps: Reading,
  scp: StewardControlPlane,
  ctx: Pick<Context, 'signal'>,
): Promise<Served> {
  const names = clusterNamesOf(scp);
  if (names.length === 0) {
    return { why: 'no Cluster owns this object yet; name it in spec.controlPlaneRef of a Cluster in this namespace' };
  }
  const namespace = scp.metadata.namespace;
  const found = await Promise.all(
    names.map((name) => deps.cluster.get(capiCluster, { namespace, name }, { signal: ctx.signal })),
  );
  const clusters = found.filter((cluster) => cluster !== undefined);
  const [first, ...more] = clusters.filter((cluster) => whyNotOurs(scp, cluster) === undefined);
  if (first === undefined) {
    const [other] = clusters;
    const gone = `the Cluster ${names.join(', ')} that owns this object does not exist`;
    return { why: (other === undefined ? undefined : whyNotOurs(scp, other)) ?? gone };
  }
  return more.length === 0 ? { cluster: first, others: [] } : oneOf(deps, scp, [first, ...more], ctx);
}

async function oneOf(
  deps: Reading,
  scp: StewardControlPlane,
  clusters: readonly CapiCluster[],
  ctx: Pick<Context, 'signal'>,
): Promise<Served> {
  const { namespace, name } = scp.metadata;
  const tenant = await deps.cluster.get(tenantControlPlane, { namespace, name }, { signal: ctx.signal });
  const isOurs = tenant?.metadata.ownerReferences?.some(({ uid }) => uid === scp.metadata.uid) ?? false;
  const servedName = isOurs ? tenant?.metadata.labels?.[clusterNameLabel] : undefined;
  const labeled = clusters.find(({ metadata }) => metadata.name === servedName);
  const cluster = labeled ?? (await withKubeconfig(deps, scp, clusters, ctx));
  const others = clusters.filter((other) => other !== cluster).map(({ metadata }) => metadata.name);
  if (cluster !== undefined) return { cluster, others };
  const why = `the Clusters ${others.join(' and ')} all name this object in spec.controlPlaneRef, but it serves only one: give each Cluster its own StewardControlPlane`;
  return { why };
}

/** The Cluster that has a kubeconfig of this control plane, whose TenantControlPlane may be in another cluster. */
async function withKubeconfig(
  deps: Reading,
  scp: StewardControlPlane,
  clusters: readonly CapiCluster[],
  { signal }: Pick<Context, 'signal'>,
): Promise<CapiCluster | undefined> {
  const namespace = scp.metadata.namespace;
  const secrets = await Promise.all(
    clusters.map(({ metadata: { name } }) =>
      deps.cluster.get(kinds.Secret, { namespace, name: clusterSecretNames(name).kubeconfig }, { signal }),
    ),
  );
  return clusters.find((_, index) =>
    secrets[index]?.metadata.ownerReferences?.some(({ uid }) => uid === scp.metadata.uid),
  );
}

/**
 * Why a Cluster does not belong to this control plane, as text; undefined if it does. A label or an owner reference alone
 * proves nothing: its author could have the credentials of someone else's Cluster replaced.
 */
function whyNotOurs(scp: StewardControlPlane, cluster: CapiCluster): string | undefined {
  const { kind = '', name = '', apiGroup = '' } = cluster.spec?.controlPlaneRef ?? {};
  const { group, kind: ours } = stewardControlPlane;
  if (kind === ours && name === scp.metadata.name && apiGroup === group) return undefined;
  const found = name === '' ? 'no control plane yet' : `the ${kind} ${name} as its control plane`;
  return `the Cluster ${cluster.metadata.name} names ${found}; name this object in its spec.controlPlaneRef`;
}

/** Why the control plane is paused, as text; undefined when it is not. It may be paused without a Cluster, too. */
export function whyPaused(scp: StewardControlPlane, cluster: CapiCluster | undefined): string | undefined {
  const causes = [
    ...(cluster?.spec?.paused === true ? [`Cluster ${cluster.metadata.name} has spec.paused set`] : []),
    ...(scp.metadata.annotations?.[pausedAnnotation] === undefined ? [] : [`it is annotated with ${pausedAnnotation}`]),
  ];
  return causes.length === 0 ? undefined : causes.join(', ');
}
