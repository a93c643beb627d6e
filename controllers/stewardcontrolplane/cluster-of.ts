import type { StewardControlPlane } from '../../api/controlplane/steward-control-plane.ts';
import { stewardControlPlane } from '../../api/controlplane/steward-control-plane.ts';
import type { Context } from '../../runtime/controller.ts';
import type { CapiCluster } from '../../api/cluster-api/kinds.ts';
import { capiCluster } from '../../api/cluster-api/kinds.ts';
import { capiGroup, clusterNameLabel, pausedAnnotation } from '../../api/cluster-api/names.ts';
import type { Dependencies } from './dependencies.ts';

/** Name of the owning Cluster. Cluster API does not always make it the controlling owner: the kind decides, then the label. */
export function clusterNameOf(scp: StewardControlPlane): string | undefined {
  const owner = scp.metadata.ownerReferences?.find(
    ({ kind, apiVersion }) => kind === capiCluster.kind && apiVersion.startsWith(`${capiGroup}/`),
  );
  return owner?.name ?? scp.metadata.labels?.[clusterNameLabel];
}

/** The Cluster that a StewardControlPlane serves; undefined when there is none. */
export function clusterOf(
  deps: Dependencies,
  scp: StewardControlPlane,
  name: string | undefined,
  ctx: Context,
): Promise<CapiCluster | undefined> {
  if (name === undefined) return Promise.resolve(undefined);
  return deps.cluster.get(capiCluster, { namespace: scp.metadata.namespace ?? '', name }, { signal: ctx.signal });
}

/**
 * Why a Cluster is not this control plane's, in words; undefined when it is. A label or an owner reference alone is no
 * proof: whoever writes one would get the credentials of another's Cluster replaced.
 */
export function whyNotOurs(scp: StewardControlPlane, cluster: CapiCluster): string | undefined {
  const { kind = '', name = '', apiGroup = '' } = cluster.spec?.controlPlaneRef ?? {};
  const { group, kind: ours } = stewardControlPlane;
  if (kind === ours && name === scp.metadata.name && apiGroup === group) return undefined;
  const found = name === '' ? 'no control plane yet' : `the ${kind} ${name} as its control plane`;
  return `the Cluster ${cluster.metadata.name ?? ''} names ${found}; name this object in its spec.controlPlaneRef`;
}

/** Why the control plane rests, in words; undefined when it does not. */
export function whyPaused(scp: StewardControlPlane, cluster: CapiCluster): string | undefined {
  const causes = [
    ...(cluster.spec?.paused === true ? [`Cluster ${cluster.metadata.name ?? ''} has spec.paused set`] : []),
    ...(scp.metadata.annotations?.[pausedAnnotation] === undefined ? [] : [`it is annotated ${pausedAnnotation}`]),
  ];
  return causes.length === 0 ? undefined : causes.join(', ');
}
