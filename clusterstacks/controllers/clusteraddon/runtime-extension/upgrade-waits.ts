import type { ClusterAddon } from '../../../api/cluster-addon.ts';
import { hasCompleted } from '../../../api/has-completed.ts';
import { upgradesBeforeAddons } from '../../../api/upgrades-before-addons.ts';
import { annotations } from '../../../../api/names.ts';
import type { KnownCluster } from './known-cluster.ts';

/**
 * What an upgrade waits for, as text; undefined if it may begin. The ClusterAddon must have completed the present class of
 * the Cluster: before it was reconciled for that class it counts as unfinished, and so does a missing one. A control plane
 * that never ran waits for nothing, because add-ons wait for it. Nor does a version that the annotation of the Cluster
 * names: the one in the call, or that of the topology if the call has none. The text contains only names, because anyone
 * who can reach the server gets it, and messages of a ClusterAddon contain texts of workload clusters.
 */
export function upgradeWaits(known: KnownCluster | undefined, toVersion: string): string | undefined {
  if (known?.isInitialized !== true) return undefined;
  const { cluster, addon, classKey } = known;
  const version = toVersion === '' ? (cluster.spec?.topology?.version ?? '') : toVersion;
  if (hasCompleted(addon, classKey) || upgradesBeforeAddons(cluster, version)) return undefined;
  const force = `to upgrade without waiting, set the annotation ${annotations.upgradeBeforeAddons}=${version} on the Cluster`;
  return `${awaited(known, toVersion)}${version === '' ? '' : `; ${force}`}`;
}

function awaited({ addon, addonKey, classKey }: KnownCluster, toVersion: string): string {
  const { name: className } = classKey;
  const begin = `the upgrade${toVersion === '' ? '' : ` to ${toVersion}`} waits for ClusterAddon ${addonKey.name}`;
  if (addon === undefined) return `${begin}, which does not exist yet`;
  const { hook = '' } = addon.spec;
  const { reason = '' } =
    addon.status?.conditions?.find(({ type, status }) => type === 'Ready' && status === 'False') ?? {};
  const why = reason === '' ? '' : ` (${reason})`;
  if (hook === '') return `${begin}, which has not observed the ClusterClass ${className} yet${why}`;
  return `${begin} to complete ${hook} of the ClusterClass ${className}${stageOf(addon, className)}${why}`;
}

/** The stage that is worked on, when it is one of that class. */
function stageOf({ spec, status }: ClusterAddon, className: string): string {
  const { run, stages = [] } = status ?? {};
  const stage = stages.find(({ phase }) => phase !== 'done');
  if (stage === undefined || run?.class !== className || run.hook !== spec.hook) return '';
  const { name, phase = '' } = stage;
  return `: stage ${name} ${phase === '' ? 'has not started' : `is in ${phase}`}`;
}
