import type { V1PodSpec, V1Probe, V1VolumeProjection } from '@kubernetes/client-node';
import type { CoreTypes, DeepReadonly } from '../../../api/core/core-schema.ts';

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
