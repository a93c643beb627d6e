import type { Container, PodSpec, SecurityContext, Volume } from '../../shared/pod-parts.ts';

/** A container, or the part of one that its author controls, with the path of the field that it comes from. */
export interface EvaluatedContainer {
  readonly at: string;
  readonly container: Partial<Container>;
}

/** The parts of a Linux pod that are checked. Absent parts are not controlled by the author. */
export interface EvaluatedPod {
  readonly containers: readonly EvaluatedContainer[];
  readonly volumes: readonly { readonly at: string; readonly volume: Volume }[];
  readonly annotations: { readonly at: string; readonly values: Readonly<Record<string, string>> };
  /** The fields of the whole pod. */
  readonly whole?: { readonly at: string; readonly spec: Partial<PodSpec> };
}

/** One security context of a pod: its own, or that of a container. */
export interface PlacedContext {
  readonly at: string;
  readonly context: Partial<Pick<SecurityContext, SharedField>>;
}

/** The fields that both kinds of security context have. */
type SharedField = 'appArmorProfile' | 'runAsUser' | 'seLinuxOptions' | 'seccompProfile' | 'windowsOptions';

/** All security contexts that are set, the pod's own first. */
export function contextsOf({ whole, containers }: EvaluatedPod): readonly PlacedContext[] {
  const ofPod = whole?.spec.securityContext;
  return [
    ...(whole === undefined || ofPod === undefined ? [] : [{ at: `${whole.at}.securityContext`, context: ofPod }]),
    ...containers.flatMap(({ at, container: { securityContext: context } }) =>
      context === undefined ? [] : [{ at: `${at}.securityContext`, context }],
    ),
  ];
}

/** True for a pod whose root user has no rights on the node: `hostUsers: false`. */
export function hasOwnUsers({ whole }: EvaluatedPod): boolean {
  return whole?.spec.hostUsers === false;
}
