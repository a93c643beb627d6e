import { annotations } from '../../../api/names.ts';
import { compareVersions, kubeletSkew, minorText, versionText } from '../../../kubeadm/versions.ts';
import type { KubernetesVersion } from '../../../kubeadm/versions.ts';
import type { NodeKubelet } from './node-page.ts';
import type { PendingUpgrade } from './pending-upgrade.ts';
import type { VersionFacts } from './version-facts.ts';

/** A reason to hold an upgrade. */
export interface Blocker {
  readonly reason:
    | 'MigrationInProgress'
    | 'StoreUnhealthy'
    | 'Sleeping'
    | 'ApiServerUnreachable'
    | 'KubeletsTooOld'
    | 'RemovedApisInUse'
    | 'RolloutFailed'
    | 'StartsLater';
  /** What was found, and what to do about it. */
  readonly message: string;
}

/**
 * No watch reports changes of a tenant's kubelets or clients: while an upgrade is held, they are checked again after this many
 * milliseconds.
 */
export const recheckMs = 60_000;

/** An upgrade that is held, and when to check again. */
export interface UpgradeHold extends Blocker {
  /** In milliseconds; absent when a watch reports it. */
  readonly afterMs?: number;
}

/** This many names are shown; more would hide how to fix it. */
const namesShown = 5;

function some(names: readonly string[]): string {
  const more = names.length - namesShown;
  return `${names.slice(0, namesShown).join(', ')}${more > 0 ? ` and ${more} more` : ''}`;
}

function minorOf(version: string): number | undefined {
  const minor = /^v1\.(\d{1,4})\./.exec(version)?.[1];
  return minor === undefined ? undefined : Number(minor);
}

/** The nodes on a page whose kubelets are too old for a version. A node without a version has not joined yet. */
export function outdatedKubelets(kubelets: readonly NodeKubelet[], to: KubernetesVersion): readonly NodeKubelet[] {
  return kubelets.filter(({ version }) => {
    const minor = minorOf(version);
    return minor !== undefined && minor < to.minor - kubeletSkew;
  });
}

/** Kubelets may be three minors older than their API server (https://kubernetes.io/releases/version-skew-policy/#kubelet). */
export function kubeletBlocker(outdated: readonly NodeKubelet[], { to }: PendingUpgrade): readonly Blocker[] {
  if (outdated.length === 0) return [];
  const oldest = `v${to.major}.${to.minor - kubeletSkew}`;
  const names = [...outdated]
    .sort((a, b) => (a.node < b.node ? -1 : 1))
    .map(({ node, version }) => `${node} (${version})`);
  const many = outdated.length === 1 ? '1 node runs a kubelet' : `${outdated.length} nodes run kubelets`;
  const message = `${many} older than ${oldest}, the oldest version that v${minorText(to)} supports: ${some(names)}; upgrade or remove ${outdated.length === 1 ? 'it' : 'them'}`;
  return [{ reason: 'KubeletsTooOld', message }];
}

/** Clients that still use a removed API get 404 from the new version on. */
export function removedApiBlocker(apis: readonly string[], { to }: PendingUpgrade): readonly Blocker[] {
  if (apis.length === 0) return [];
  const message = `clients have requested APIs that v${minorText(to)} no longer serves: ${some(apis)}; migrate these clients, then restart the pods of the control plane, which resets apiserver_requested_deprecated_apis`;
  return [{ reason: 'RemovedApisInUse', message }];
}

/**
 * Holds an upgrade until a migration is done, even if it is forced: a new minor in the middle of a migration could not be rolled
 * back with it.
 */
export function holdForMigration(step: PendingUpgrade): UpgradeHold {
  const message = `${heldText(step)}: waiting for the data migration to finish; the condition Migrating shows its progress`;
  return { reason: 'MigrationInProgress', message };
}

function heldText({ from, to }: PendingUpgrade): string {
  return `upgrade from ${versionText(from)} to ${versionText(to)} is held`;
}

/** All blockers of an upgrade as one condition; the first reason counts. Undefined when there are none. */
export function holdFor(step: PendingUpgrade, blockers: readonly Blocker[], afterMs?: number): UpgradeHold | undefined {
  const [first] = blockers;
  if (first === undefined) return undefined;
  const why = blockers.map(({ message }) => message).join('; ');
  const again = afterMs === undefined ? '' : '; the checks run again every minute';
  const skip = `to skip the checks, set the annotation ${annotations.upgradeAnyway}=${versionText(step.to)}`;
  const message = `${heldText(step)}: ${why}${again}; ${skip}`;
  return { reason: first.reason, message, afterMs };
}

/** Says that a rollout returned to the pods before it, and when it is tried again. */
export function holdForFailure(
  why: string,
  { versions: { installed, wanted }, again }: { readonly versions: VersionFacts; readonly again: Date },
): UpgradeHold {
  const isUpgrade = installed !== undefined && wanted !== undefined && compareVersions(installed, wanted) !== 0;
  const what = isUpgrade ? `the upgrade from ${versionText(installed)} to ${versionText(wanted)}` : 'the rollout';
  const message = `${what} was rolled back to the previous pods, which keep serving: ${why}; it is tried again at ${again.toISOString().replace(/\.\d{3}Z$/, 'Z')}, or as soon as the spec changes`;
  return { reason: 'RolloutFailed', message };
}
