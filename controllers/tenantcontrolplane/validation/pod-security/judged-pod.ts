import type { Container, PodSpec, SecurityContext, Volume } from '../../components/pod-parts.ts';

/** A container, or as much of one as its author chooses, with the path of the field that it comes from. */
export interface JudgedContainer {
  readonly at: string;
  readonly container: Partial<Container>;
}

/** What is judged of a pod of Linux. What is absent is not the author's to choose. */
export interface JudgedPod {
  readonly containers: readonly JudgedContainer[];
  readonly volumes: readonly { readonly at: string; readonly volume: Volume }[];
  readonly annotations: { readonly at: string; readonly values: Readonly<Record<string, string>> };
  /** What holds for the whole pod. */
  readonly whole?: { readonly at: string; readonly spec: Partial<PodSpec> };
}

/** One security context of a pod: that of all of it, or that of a container. */
export interface PlacedContext {
  readonly at: string;
  readonly context: Partial<Pick<SecurityContext, SharedField>>;
}

/** What both kinds of security context have. */
type SharedField = 'appArmorProfile' | 'runAsUser' | 'seLinuxOptions' | 'seccompProfile' | 'windowsOptions';

/** All security contexts that are set, that of the whole pod first. */
export function contextsOf({ whole, containers }: JudgedPod): readonly PlacedContext[] {
  const ofPod = whole?.spec.securityContext;
  return [
    ...(whole === undefined || ofPod === undefined ? [] : [{ at: `${whole.at}.securityContext`, context: ofPod }]),
    ...containers.flatMap(({ at, container: { securityContext: context } }) =>
      context === undefined ? [] : [{ at: `${at}.securityContext`, context }],
    ),
  ];
}

/** True for a pod whose root is nobody on the node: `hostUsers: false`. */
export function hasOwnUsers({ whole }: JudgedPod): boolean {
  return whole?.spec.hostUsers === false;
}
