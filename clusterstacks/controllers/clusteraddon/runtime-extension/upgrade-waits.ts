import type { ClusterAddon } from '../../../api/cluster-addon.ts';
import { hasCompleted } from '../../../api/has-completed.ts';
import { upgradesBeforeAddons } from '../../../api/upgrades-before-addons.ts';
import { annotations } from '../../../../api/names.ts';
import type { KnownCluster } from './known-cluster.ts';

/**
 * What an upgrade waits for, as text; undefined when it may begin. The ClusterAddon has to have completed the class that the Cluster
 * has now: before it has looked at that class it counts as unfinished, and so does one that is not there. A control plane that never
 * ran waits for nobody, since add-ons wait for it, and so does a version that the annotation of the Cluster names: the one that core
 * asks about, or that of its topology where core names none.
 *
 * The words are made of names only. Whoever reaches the server gets them, and messages of a ClusterAddon hold texts of workload clusters.
 */
export function upgradeWaits(known: KnownCluster | undefined, toVersion: string): string | undefined {
  if (known?.isInitialized !== true) return undefined;
  const { cluster, addon, classKey } = known;
  const version = toVersion === '' ? (cluster.spec?.topology?.version ?? '') : toVersion;
  if (hasCompleted(addon, classKey) || upgradesBeforeAddons(cluster, version)) return undefined;
  const force = `to upgrade without waiting, set the annotation ${annotations.upgradeBeforeAddons}: ${version} on the Cluster`;
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
