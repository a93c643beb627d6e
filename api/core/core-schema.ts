import type {
  V1Affinity,
  V1Container,
  V1DeploymentStrategy,
  V1LabelSelector,
  V1LoadBalancerStatus,
  V1PodSecurityContext,
  V1SecurityContext,
  V1Toleration,
  V1TopologySpreadConstraint,
  V1Volume,
  V1VolumeMount,
  V2HorizontalPodAutoscalerBehavior,
} from '@kubernetes/client-node';
import type { OpenApi, Schema } from '../schema.ts';
import { foreign } from '../schema.ts';
import generated from './generated/core.json' with { type: 'json' };

/** Objects that were read must not be modified in place. */
export type DeepReadonly<T> = T extends readonly (infer E)[]
  ? readonly DeepReadonly<E>[]
  : T extends object
    ? { readonly [K in keyof T]: DeepReadonly<T[K]> }
    : T;

/** Compute resources. A quantity may also be a number. */
export interface ResourceRequirements {
  readonly limits?: Readonly<Record<string, string | number>>;
  readonly requests?: Readonly<Record<string, string | number>>;
  readonly claims?: readonly { readonly name: string; readonly request?: string }[];
}

/** Embedded Kubernetes types by name. */
export interface CoreTypes {
  readonly Affinity: DeepReadonly<V1Affinity>;
  readonly Container: DeepReadonly<V1Container>;
  readonly DeploymentStrategy: DeepReadonly<V1DeploymentStrategy>;
  readonly HorizontalPodAutoscalerBehavior: DeepReadonly<V2HorizontalPodAutoscalerBehavior>;
  readonly LabelSelector: DeepReadonly<V1LabelSelector>;
  readonly LoadBalancerStatus: DeepReadonly<V1LoadBalancerStatus>;
  readonly PodSecurityContext: DeepReadonly<V1PodSecurityContext>;
  readonly ResourceRequirements: ResourceRequirements;
  readonly SecurityContext: DeepReadonly<V1SecurityContext>;
  readonly Toleration: DeepReadonly<V1Toleration>;
  readonly TopologySpreadConstraint: DeepReadonly<V1TopologySpreadConstraint>;
  readonly Volume: DeepReadonly<V1Volume>;
  readonly VolumeMount: DeepReadonly<V1VolumeMount>;
}

/** The schema of an embedded type, from the OpenAPI document of the pinned Kubernetes release. */
export function core<N extends keyof CoreTypes>(name: N): Schema<CoreTypes[N]> {
  // JSON types widen literals such as 'array'; the extract script emits structural schemas only.
  return foreign(generated.definitions[name] as OpenApi);
}

const nameByProperties = new Map<unknown, string>(
  Object.entries(generated.definitions).map(([name, definition]) => [definition.properties, name]),
);

/** Name of the embedded type of a schema, even if a description or default was added; undefined for other schemas. */
export const coreTypeOf = (schema: OpenApi): string | undefined =>
  schema.properties === undefined ? undefined : nameByProperties.get(schema.properties);
