import type { V1PodSpec, V1Probe, V1VolumeProjection } from '@kubernetes/client-node';
import type { CoreTypes, DeepReadonly } from '../../../api/core/core-schema.ts';
import type { Arguments } from './arguments.ts';

/** Parts of a pod as plain JSON. */
export type Container = CoreTypes['Container'];
export type DeploymentStrategy = CoreTypes['DeploymentStrategy'];
export type PodSpec = DeepReadonly<V1PodSpec>;
export type Probe = DeepReadonly<V1Probe>;
export type ResourceRequirements = CoreTypes['ResourceRequirements'];
export type SecurityContext = CoreTypes['SecurityContext'];
export type Volume = CoreTypes['Volume'];
export type VolumeMount = CoreTypes['VolumeMount'];
export type VolumeProjection = DeepReadonly<V1VolumeProjection>;

/** What an add-on brings into the pods of a control plane. */
export interface AddonPod {
  /** Restartable init containers, which outlive the other containers (KEP-753). */
  readonly sidecars?: readonly Container[];
  readonly containers?: readonly Container[];
  readonly volumes?: readonly Volume[];
  readonly apiServer?: { readonly arguments: Arguments; readonly mounts: readonly VolumeMount[] };
  /** Mounts of additional containers of the author, by name. */
  readonly additionalMounts?: ReadonlyMap<string, readonly VolumeMount[]>;
}

/** Mode of the files in volumes: readable by the pods' user, not writable. */
export const readableMode = 0o444;
