import type { ContractReference } from '../../../../api/cluster-api/kinds.ts';
import type { CapiCluster } from '../../../../api/cluster-api/kinds.ts';
import { contractKind, definitionName } from '../../../../api/cluster-api/contract-kind.ts';
import { kinds } from '../../../../api/core/kinds.ts';
import type { Resource } from '../../../../api/meta.ts';
import type { Dependencies } from '../dependencies.ts';

/** Objects of the management cluster that a Cluster consists of. */
export interface ValuesRoot {
  readonly Cluster: CapiCluster;
  readonly ControlPlane?: Resource;
  readonly InfraCluster?: Resource;
}

/** What templates of values see: the Cluster, its control plane and its infrastructure, and nothing else. */
export async function valuesRoot(deps: Dependencies, cluster: CapiCluster, signal: AbortSignal): Promise<ValuesRoot> {
  const { controlPlaneRef, infrastructureRef } = cluster.spec ?? {};
  const [controlPlane, infrastructure] = await Promise.all(
    [controlPlaneRef, infrastructureRef].map((reference) => referenced(deps, { cluster, reference }, signal)),
  );
  return {
    Cluster: withoutNoise(cluster),
    ...(controlPlane && { ControlPlane: withoutNoise(controlPlane) }),
    ...(infrastructure && { InfraCluster: withoutNoise(infrastructure) }),
  };
}

async function referenced(
  deps: Dependencies,
  { cluster, reference }: { readonly cluster: CapiCluster; readonly reference: ContractReference | undefined },
  signal: AbortSignal,
): Promise<Resource | undefined> {
  const { apiGroup, kind, name } = reference ?? {};
  if (apiGroup === undefined || kind === undefined || name === undefined) return undefined;
  const fieldSelector = `metadata.name=${definitionName(apiGroup, kind)}`;
  const options = { fieldSelector, metadataOnly: true, signal };
  const { items } = await deps.cluster.list(kinds.CustomResourceDefinition, options);
  const found = items[0] && contractKind(items[0], kind);
  const { namespace } = cluster.metadata;
  return found && deps.cluster.get(found.kind, { namespace, name }, { signal });
}

function withoutNoise<T extends Resource>(object: T): T {
  const metadata = Object.entries(object.metadata).filter(([key]) => key !== 'managedFields');
  return { ...object, metadata: Object.fromEntries(metadata) };
}
