import { annotations } from '../../../api/names.ts';
import { kubeletSkew, minorText, versionText } from '../../../kubeadm/versions.ts';
import type { KubernetesVersion } from '../../../kubeadm/versions.ts';
import type { NodeKubelet } from './node-page.ts';
import type { PendingUpgrade } from './pending-upgrade.ts';

/** A reason to hold an upgrade. */
export interface Blocker {
  readonly reason:
    | 'MigrationInProgress'
    | 'StoreUnhealthy'
    | 'Sleeping'
    | 'ApiServerUnreachable'
    | 'KubeletsTooOld'
    | 'RemovedApisInUse';
  /** What was found, and what to do about it. */
  readonly message: string;
}

/** An upgrade that is held, and when to check again. */
export interface UpgradeHold extends Blocker {
  /** In milliseconds; absent when a watch reports it. */
  readonly afterMs?: number;
}

/** This many names are shown; more would hide the advice. */
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
export function laggards(kubelets: readonly NodeKubelet[], to: KubernetesVersion): readonly NodeKubelet[] {
  return kubelets.filter(({ version }) => {
    const minor = minorOf(version);
    return minor !== undefined && minor < to.minor - kubeletSkew;
  });
}

/** Kubelets may be three minors older than their API server (https://kubernetes.io/releases/version-skew-policy/#kubelet). */
export function kubeletBlocker(late: readonly NodeKubelet[], { to }: PendingUpgrade): readonly Blocker[] {
  if (late.length === 0) return [];
  const oldest = `v${to.major}.${to.minor - kubeletSkew}`;
  const names = [...late].sort((a, b) => (a.node < b.node ? -1 : 1)).map(({ node, version }) => `${node} (${version})`);
  const many = late.length === 1 ? '1 node has a kubelet' : `${late.length} nodes have kubelets`;
  const message = `${many} older than ${oldest}, the oldest that works with v${minorText(to)}: ${some(names)}; upgrade or remove them`;
  return [{ reason: 'KubeletsTooOld', message }];
}

/** Clients that still use a removed API get 404 from the new version on. */
export function removedApiBlocker(apis: readonly string[], { to }: PendingUpgrade): readonly Blocker[] {
  if (apis.length === 0) return [];
  const message = `clients of the tenant have used APIs that v${minorText(to)} does not serve: ${some(apis)}; move them to other versions of these APIs, then restart the control plane to reset the record of their requests`;
  return [{ reason: 'RemovedApisInUse', message }];
}

/**
 * Holds an upgrade until a migration is done, even if it is forced: a new minor in the middle of a migration could not be rolled
 * back with it.
 */
export function holdForMove({ from, to }: PendingUpgrade): UpgradeHold {
  const message = `the upgrade to ${versionText(to)} is held and ${versionText(from)} keeps running until the data has been migrated to its new DataStore`;
  return { reason: 'MigrationInProgress', message };
}

/** All blockers of an upgrade as one condition; the first reason counts. Undefined when there are none. */
export function holdFor(
  { from, to }: PendingUpgrade,
  blockers: readonly Blocker[],
  afterMs?: number,
): UpgradeHold | undefined {
  const [first] = blockers;
  if (first === undefined) return undefined;
  const why = blockers.map(({ message }) => message).join('; ');
  const force = `to upgrade anyway, set the annotation ${annotations.upgradeAnyway}: ${versionText(to)}`;
  const message = `the upgrade to ${versionText(to)} is held and ${versionText(from)} keeps running: ${why}; ${force}`;
  return { reason: first.reason, message, ...(afterMs !== undefined && { afterMs }) };
}
