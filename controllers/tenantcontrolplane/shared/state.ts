import type { Deployment } from '../../../api/core/kinds.ts';
import type { ControlPlaneState } from '../../../api/steward/v1alpha1/tenant-control-plane-status.ts';

/** The inputs of a control plane's state. */
export interface StateInput {
  /** Pods wanted. */
  readonly replicas: number;
  /** Installed version in the status, `vX.Y.Z`; absent before the first installation. */
  readonly installed: string | undefined;
  /** Version of the Deployment that was applied, `vX.Y.Z`; absent when none was. */
  readonly applied: string | undefined;
  readonly deployment: Deployment | undefined;
  /** True when the API server answered and what its first users need is in place. */
  readonly usable: boolean;
  /** True while writes are denied because the data is being migrated. */
  readonly migrating?: boolean;
  /** True while the tenant denies writes because of its spec. */
  readonly limited?: boolean;
  /** True while new pods with another CA replace the old ones. */
  readonly rotating: boolean;
}

/** The state, and the installed version from now on. */
export interface StateFinding {
  readonly state: ControlPlaneState;
  readonly installed: string | undefined;
}

/** True while not all pods are of the newest revision and ready. */
export function isRolling(deployment: Deployment | undefined, replicas: number): boolean {
  if (deployment === undefined) return true;
  const { status, metadata } = deployment;
  if (status === undefined || metadata.generation !== status.observedGeneration) return true;
  if ((status.unavailableReplicas ?? 0) > 0) return true;
  return [status.updatedReplicas, status.readyReplicas, status.replicas].some((count) => (count ?? 0) !== replicas);
}

/** Before the first installation: the version is installed as soon as it serves, since no other has ever run. */
function firstState(input: StateInput, serves: boolean): StateFinding {
  const works = serves && input.applied !== undefined && input.usable;
  const state = input.limited === true ? 'WriteLimited' : 'Ready';
  return works ? { state, installed: input.applied } : { state: 'Provisioning', installed: undefined };
}

/**
 * A control plane is Provisioning until it has served for the first time, and NotReady when it stops serving; a rollout during
 * which it serves is Upgrading if the version changes and Ready otherwise, or WriteLimited if writes are denied.
 */
export function controlPlaneState(input: StateInput): StateFinding {
  const { installed, deployment } = input;
  const reached = input.applied ?? installed;
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
