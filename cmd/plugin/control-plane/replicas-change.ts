import { annotations } from '../../../api/names.ts';
import { clusterPatchCommand } from './change-control-plane.ts';
import type { ControlPlaneChange } from './change-control-plane.ts';
import { topologyOf } from './find-control-plane.ts';
import type { ControlPlane } from './find-control-plane.ts';

/** The number of pods by default, as the schemas of both kinds have it. */
const defaultReplicas = 2;

/** The number of pods that the spec requests. */
export function wantedReplicas({ tenant, parent }: ControlPlane): number {
  return parent?.spec.replicas ?? tenant?.spec.controlPlane.deployment.replicas ?? defaultReplicas;
}

/** The number of pods before `sleep`; the default if it is not known. */
export function replicasBeforeSleep({ tenant, parent }: ControlPlane): number {
  const noted = Number((parent ?? tenant)?.metadata.annotations?.[annotations.replicasBeforeSleep]);
  return Number.isSafeInteger(noted) && noted > 0 ? noted : defaultReplicas;
}

/** Sets this number of pods. With 0, the previous number is recorded in an annotation; otherwise the annotation is removed. */
export function replicasChange(plane: ControlPlane, replicas: number): ControlPlaneChange {
  const before = replicas === 0 ? String(wantedReplicas(plane)) : null;
  const metadata = { annotations: { [annotations.replicasBeforeSleep]: before } };
  const ofTopology = { spec: { topology: { controlPlane: { replicas } } } };
  return {
    tenant: { metadata, spec: { controlPlane: { deployment: { replicas } } } },
    parent: { metadata, spec: { replicas } },
    topology: (cluster) =>
      `change spec.topology.controlPlane.replicas of the Cluster: ${clusterPatchCommand(plane.namespace, topologyOf(plane) ?? cluster, ofTopology)}`,
  };
}
