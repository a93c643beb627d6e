import { annotations } from '../../../../api/names.ts';
import { kubeletSkew, minorText, versionText } from '../../../../kubeadm/versions.ts';
import type { KubernetesVersion } from '../../../../kubeadm/versions.ts';
import type { NodeKubelet } from './node-page.ts';
import type { PendingUpgrade } from './pending-upgrade.ts';

/** What speaks against an upgrade. */
export interface Obstacle {
  readonly reason:
    'DataMoves' | 'StoreUnhealthy' | 'Sleeping' | 'ApiServerSilent' | 'KubeletsTooOld' | 'RemovedApisInUse';
  /** What was seen, and what helps beside force. */
  readonly message: string;
}

/** An upgrade that is held, and when to look again. */
export interface UpgradeHold extends Obstacle {
  /** In milliseconds; absent when an event tells. */
  readonly afterMs?: number;
}

/** This many names tell what is meant; more would drown the remedy. */
const namesShown = 5;

function some(names: readonly string[]): string {
  const more = names.length - namesShown;
  return `${names.slice(0, namesShown).join(', ')}${more > 0 ? ` and ${more} more` : ''}`;
}

function minorOf(version: string): number | undefined {
  const minor = /^v1\.(\d{1,4})\./.exec(version)?.[1];
  return minor === undefined ? undefined : Number(minor);
}

/** The nodes whose kubelets are too old for a version, of a page of them. What tells no version has not joined yet. */
export function laggards(kubelets: readonly NodeKubelet[], to: KubernetesVersion): readonly NodeKubelet[] {
  return kubelets.filter(({ version }) => {
    const minor = minorOf(version);
    return minor !== undefined && minor < to.minor - kubeletSkew;
  });
}

/** Kubelets may be three minors older than their API server (https://kubernetes.io/releases/version-skew-policy/#kubelet). */
export function kubeletObstacle(late: readonly NodeKubelet[], { to }: PendingUpgrade): readonly Obstacle[] {
  if (late.length === 0) return [];
  const oldest = `v${to.major}.${to.minor - kubeletSkew}`;
  const names = [...late].sort((a, b) => (a.node < b.node ? -1 : 1)).map(({ node, version }) => `${node} (${version})`);
  const many = late.length === 1 ? '1 node has a kubelet' : `${late.length} nodes have kubelets`;
  const message = `${many} older than ${oldest}, the oldest that works with v${minorText(to)}: ${some(names)}; upgrade or remove them`;
  return [{ reason: 'KubeletsTooOld', message }];
}

/** Whoever still asks for an API that is gone gets 404 from the new version on. */
export function removedApiObstacle(apis: readonly string[], { to }: PendingUpgrade): readonly Obstacle[] {
  if (apis.length === 0) return [];
  const message = `clients of the tenant have asked for APIs that v${minorText(to)} does not serve: ${some(apis)}; move them to other versions of these APIs and restart the control plane, which forgets what was asked`;
  return [{ reason: 'RemovedApisInUse', message }];
}

/** Nothing lets it go on before the data is there: a new minor in the midst of a move could not be undone with it. */
export function holdForMove({ from, to }: PendingUpgrade): UpgradeHold {
  const message = `${versionText(to)} is held back and ${versionText(from)} goes on until the data has come to its other DataStore`;
  return { reason: 'DataMoves', message };
}

/** All that speaks against an upgrade as one condition; the first reason counts. Undefined when nothing does. */
export function holdFor(
  { from, to }: PendingUpgrade,
  obstacles: readonly Obstacle[],
  afterMs?: number,
): UpgradeHold | undefined {
  const [first] = obstacles;
  if (first === undefined) return undefined;
  const why = obstacles.map(({ message }) => message).join('; ');
  const force = `the annotation ${annotations.upgradeAnyway}: ${versionText(to)} lets it go on all the same`;
  const message = `${versionText(to)} is held back and ${versionText(from)} goes on: ${why}; ${force}`;
  return { reason: first.reason, message, ...(afterMs !== undefined && { afterMs }) };
}
