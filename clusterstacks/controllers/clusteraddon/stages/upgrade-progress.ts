import type { CapiMachineDeployment } from '../../../../api/cluster-api/kinds.ts';
import type { Resource } from '../../../../api/meta.ts';

/** The version that a control plane of any kind reports, as Cluster API's contract has it. */
export function reportedVersion(controlPlane: Resource | undefined): string | undefined {
  const { status } = (controlPlane ?? {}) as { readonly status?: { readonly version?: unknown } };
  const version = status?.version;
  if (typeof version !== 'string' || version === '') return undefined;
  return version.startsWith('v') ? version : `v${version}`;
}

/** Why control plane and workers do not all run `wanted`, as text; undefined when they do. */
export function upgradeAwaits(
  wanted: string,
  controlPlane: Resource | undefined,
  workers: readonly CapiMachineDeployment[],
): string | undefined {
  const running = reportedVersion(controlPlane);
  if (running !== wanted)
    return `the control plane runs ${running ?? 'no version yet'}; the wanted version is ${wanted}`;
  const late = workers.filter((group) => !runs(group, wanted)).map(({ metadata }) => metadata.name);
  return late.length === 0 ? undefined : `not all workers run ${wanted} yet: MachineDeployment ${late.join(', ')}`;
}

function runs({ metadata, spec, status = {} }: CapiMachineDeployment, wanted: string): boolean {
  const { replicas = 0, upToDateReplicas = 0, observedGeneration = 0 } = status;
  const isObserved = metadata.generation === undefined || observedGeneration >= metadata.generation;
  const isWanted = spec?.template?.spec?.version === wanted;
  return isWanted && isObserved && upToDateReplicas >= (spec.replicas ?? 1) && upToDateReplicas >= replicas;
}
