import type { StewardControlPlaneStatus } from '../../../api/controlplane/steward-control-plane-status.ts';
import type { TenantControlPlane } from '../../../api/steward/v1alpha1/tenant-control-plane.ts';
import { compareVersions, normalizeVersion, parseVersion } from '../../../kubeadm/versions.ts';
import { isTrue } from '../../../runtime/reconcile/conditions.ts';

/** A rollout that has not begun, since something else has to be done before: no pod has the wanted version. */
export function heldRollout(rollout: Rollout, held: string | undefined): Rollout {
  return held === undefined ? rollout : { ...rollout, upToDate: 0, unfinished: held, isHeld: true };
}

/** A rollout that was forced although something else should be done before. */
export function forcedRollout(rollout: Rollout, passedOver: string | undefined): Rollout {
  if (passedOver === undefined || rollout.unfinished === undefined) return rollout;
  return { ...rollout, unfinished: `${rollout.unfinished}; ${passedOver}`, isForced: true };
}

/** The progress of a TenantControlPlane towards its spec. */
export interface Rollout {
  readonly total: number;
  readonly ready: number;
  readonly available: number;
  /** Pods that match the newest spec. */
  readonly upToDate: number;
  /** False while it is not known how many pods there are. */
  readonly counted: boolean;
  /** The versions that are reported to Cluster API; absent before the first is complete. */
  readonly versions?: Required<Pick<StewardControlPlaneStatus, 'version' | 'versions'>>;
  /** Why it is not over, as text; absent when it is. */
  readonly unfinished?: string;
  /** True while it may not begin. */
  readonly isHeld?: boolean;
  /** True when it did not wait for what it should have. */
  readonly isForced?: boolean;
}

/**
 * The state of a rollout. `before` is the version that was reported to Cluster API last: it stays until the pods of the
 * wanted one and all of its changes inside the tenant are in place, because Cluster API upgrades workers as soon as the new
 * one is reported.
 */
export function rolloutOf(tenant: TenantControlPlane | undefined, before: string | undefined): Rollout {
  const { deployment, version } = tenant?.status?.kubernetesResources ?? {};
  const counts = countsOf(deployment);
  const installed = version?.version ?? '';
  if (tenant === undefined || installed === '') return counts;
  const wanted = normalizeVersion(tenant.spec.kubernetes.version);
  if (normalizeVersion(installed) === wanted) return installedRollout(tenant, counts, { wanted, before });
  const upToDate = updatedDuringUpgrade(tenant);
  const running = before ?? normalizeVersion(installed);
  return {
    ...counts,
    upToDate,
    unfinished: heldBack(tenant) ?? `${upToDate} of ${counts.total} replicas run ${wanted}`,
    versions: twoVersions({ running, wanted, total: counts.total, upToDate }),
  };
}

type Deployment = NonNullable<NonNullable<TenantControlPlane['status']>['kubernetesResources']>['deployment'];

function countsOf(deployment: Deployment): Rollout {
  const { replicas = 0, readyReplicas = 0, availableReplicas = 0, updatedReplicas = 0 } = deployment ?? {};
  return {
    total: replicas,
    ready: readyReplicas,
    available: availableReplicas,
    upToDate: updatedReplicas,
    counted: deployment !== undefined,
  };
}

/** The pods have the wanted version; the tenant itself may lack something of it. */
function installedRollout(
  tenant: TenantControlPlane,
  counts: Rollout,
  { wanted, before }: { readonly wanted: string; readonly before: string | undefined },
): Rollout {
  const { total, upToDate } = counts;
  const missing = before === wanted ? undefined : missingInTenant(tenant, before);
  const unfinished = missing ?? uncountedYet(tenant) ?? rolling(total, upToDate);
  const counted = unfinished === undefined ? counts : { ...counts, unfinished };
  if (missing === undefined) return { ...counted, versions: oneVersion(wanted, total) };
  return before === undefined
    ? counted
    : { ...counted, versions: twoVersions({ running: before, wanted, total, upToDate }) };
}

/** Counts that may still be those of the old pods: a change is only over once it has been observed. */
function uncountedYet(tenant: TenantControlPlane): string | undefined {
  if (!isObserved(tenant)) return 'the latest spec of the TenantControlPlane has not been observed yet';
  const { generation, observedGeneration = 0 } = tenant.status?.kubernetesResources?.deployment ?? {};
  const isCounted = generation === undefined || observedGeneration >= generation;
  return isCounted ? undefined : 'the updated pods have not been counted yet';
}

function rolling(total: number, upToDate: number): string | undefined {
  return upToDate < total ? `${upToDate} of ${total} replicas are up to date` : undefined;
}

/** True when the status is about the newest spec. */
function isObserved({ metadata, status }: TenantControlPlane): boolean {
  return (status?.observedGeneration ?? 0) >= metadata.generation;
}

/** What the preflight of the TenantControlPlane found against the version. */
function heldBack(tenant: TenantControlPlane): string | undefined {
  const held = tenant.status?.conditions?.find(({ type }) => type === 'UpgradeAllowed');
  return isObserved(tenant) && held?.status === 'False' ? held.message : undefined;
}

/**
 * Pods of the wanted version while another one is installed: the Deployment counts them only once its template has that
 * version.
 */
function updatedDuringUpgrade(tenant: TenantControlPlane): number {
  if (!isObserved(tenant) || heldBack(tenant) !== undefined) return 0;
  const {
    replicas = 0,
    updatedReplicas = 0,
    readyReplicas = 0,
    unavailableReplicas = 0,
  } = tenant.status?.kubernetesResources?.deployment ?? {};
  // A Deployment whose pods are all up to date and ready has not been updated for the upgrade yet, or has not observed it.
  const isBefore = updatedReplicas === replicas && readyReplicas === replicas && unavailableReplicas === 0;
  return isBefore ? 0 : updatedReplicas;
}

/** What the tenant itself still lacks of the version that its pods run. The first workers wait for no add-ons, which may wait for them. */
function missingInTenant(tenant: TenantControlPlane, before: string | undefined): string | undefined {
  const wanted = normalizeVersion(tenant.spec.kubernetes.version);
  if (!isObserved(tenant)) return `the TenantControlPlane has not observed ${wanted} yet`;
  const { conditions } = tenant.status ?? {};
  const needed = before === undefined ? ['TenantConfigured'] : ['TenantConfigured', 'AddonsReady'];
  const lacking = needed.find((type) => !isTrue(conditions, type));
  if (lacking === undefined) return undefined;
  const message = conditions?.find(({ type }) => type === lacking)?.message ?? '';
  return `pods run ${wanted}, but the tenant is not ready for it yet: ${lacking}${message === '' ? '' : `: ${message}`}`;
}

type Versions = NonNullable<Rollout['versions']>;

function oneVersion(version: string, replicas: number): Versions {
  return { version, versions: [{ version, replicas }] };
}

interface Step {
  readonly running: string;
  readonly wanted: string;
  readonly total: number;
  readonly upToDate: number;
}

/** Oldest first, as Cluster API requires. A version that no pod runs yet is not reported. */
function twoVersions({ running, wanted, total, upToDate }: Step): Versions {
  if (running === wanted || upToDate === 0) return oneVersion(running, total);
  const both = [
    { version: running, replicas: Math.max(0, total - upToDate) },
    { version: wanted, replicas: upToDate },
  ].sort((a, b) => compareVersions(parseVersion(a.version), parseVersion(b.version)));
  return { version: both[0]?.version ?? running, versions: both };
}
