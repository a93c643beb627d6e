import type { Deployment } from '../../api/core/kinds.ts';
import type { ControlPlaneState } from '../../api/steward/v1alpha1/tenant-control-plane-status.ts';

/** What the state of a control plane in one word follows from. */
export interface StateInput {
  /** Pods wanted. */
  readonly replicas: number;
  /** Version that the status records as installed, `vX.Y.Z`; absent before the first time. */
  readonly installed: string | undefined;
  /** Version that the spec wants, `vX.Y.Z`. */
  readonly wanted: string;
  readonly deployment: Deployment | undefined;
  /** True when the Deployment is known to be what the spec wants. */
  readonly applied: boolean;
  /** True when the API server answered and what its first users need is in place. */
  readonly usable: boolean;
  /** True while writes are denied because the data changes its place. */
  readonly migrating?: boolean;
  /** True while the tenant denies writes as its spec asks. */
  readonly limited?: boolean;
  /** True while new pods with another certificate authority replace the old ones. */
  readonly rotating: boolean;
}

/** The state, and the version that is installed from now on. */
export interface StateFinding {
  readonly state: ControlPlaneState;
  readonly installed: string | undefined;
}

/** True while the pods are not yet all of the newest kind and ready. */
export function isRolling(deployment: Deployment | undefined, replicas: number): boolean {
  if (deployment === undefined) return true;
  const { status, metadata } = deployment;
  if (status === undefined || metadata.generation !== status.observedGeneration) return true;
  if ((status.unavailableReplicas ?? 0) > 0) return true;
  return [status.updatedReplicas, status.readyReplicas, status.replicas].some((count) => (count ?? 0) !== replicas);
}

/** The first time: the version is installed as soon as it serves, since no other has ever run. */
function firstState(input: StateInput, serves: boolean): StateFinding {
  const works = serves && input.applied && input.usable;
  const state = input.limited === true ? 'WriteLimited' : 'Ready';
  return works ? { state, installed: input.wanted } : { state: 'Provisioning', installed: undefined };
}

/**
 * A control plane is Provisioning until it served for the first time and NotReady when it stopped serving; a rollout during
 * which it serves is Upgrading when the version changes and Ready otherwise, or WriteLimited where writes are denied.
 */
export function controlPlaneState(input: StateInput): StateFinding {
  const { installed, wanted, deployment, applied } = input;
  const reached = applied ? wanted : installed;
  if (input.replicas === 0) return { state: 'Sleeping', installed: reached };
  const serves = (deployment?.status?.readyReplicas ?? 0) > 0;
  const settled = serves && !isRolling(deployment, input.replicas);
  if (input.migrating === true && installed !== undefined) return { state: 'Migrating', installed };
  if (input.rotating && !settled) return { state: 'CertificateAuthorityRotating', installed };
  if (installed === undefined) return firstState(input, serves);
  if (settled) return { state: input.limited === true ? 'WriteLimited' : 'Ready', installed: reached };
  if (reached !== installed) return { state: 'Upgrading', installed };
  if (!serves) return { state: 'NotReady', installed };
  return { state: input.limited === true ? 'WriteLimited' : 'Ready', installed };
}
