import type { CapiCluster } from '../../../api/cluster-api/kinds.ts';
import { capiMachineDeployment } from '../../../api/cluster-api/kinds.ts';
import { clusterNameLabel } from '../../../api/cluster-api/names.ts';
import type { ClusterAddon } from '../../api/cluster-addon.ts';
import { completedClass } from '../../api/completed-class.ts';
import { addonStageAnnotation } from '../../api/names.ts';
import type { Context } from '../../../runtime/reconcile/controller.ts';
import type { AddonHook } from '../../sources/cluster-addon-config.ts';
import type { Dependencies } from './dependencies.ts';
import type { Gathered } from './gather.ts';
import { ownCluster, releaseOfCluster } from './gather.ts';
import type { HookStep, Situation } from './stages/hook-due.ts';
import { hookDue } from './stages/hook-due.ts';
import { isInitialized } from './stages/is-initialized.ts';
import { reportedVersion, upgradeAwaits } from './stages/upgrade-progress.ts';
import type { ValuesRoot } from './stages/values-root.ts';
import { valuesRoot } from './stages/values-root.ts';

/** Everything that a reconcile decides by. */
export interface GatheredState extends Gathered {
  readonly addon: ClusterAddon;
  readonly root: ValuesRoot;
  readonly completedHooks: readonly AddonHook[];
  readonly step: HookStep;
}

/**
 * Reads what there is, and says what is due.
 * @throws StageError when nothing can be done yet.
 */
export async function gatherState(deps: Dependencies, addon: ClusterAddon, ctx: Context): Promise<GatheredState> {
  const { signal } = ctx;
  const cluster = await ownCluster(deps, addon, signal);
  const gathered = await releaseOfCluster(deps, cluster, signal);
  const root = await valuesRoot(deps, cluster, signal);
  const { metadata } = gathered.assets;
  const record = recordOf(addon, gathered);
  const awaits = record.completedHooks.includes('BeforeClusterUpgrade')
    ? upgradeAwaits(metadata.kubernetes, root.ControlPlane, await workersOf(deps, cluster, signal))
    : undefined;
  const step = hookDue({
    className: classText(gathered.classNamespace, gathered.className),
    release: {
      addonVersion: withDash(metadata.clusterAddon),
      kubernetes: metadata.kubernetes,
      config: gathered.config,
    },
    isInitialized: isInitialized(cluster),
    controlPlaneVersion: reportedVersion(root.ControlPlane),
    upgradeAwaits: awaits,
    record,
  });
  return { ...gathered, addon, root, completedHooks: record.completedHooks, step };
}

/** Versions as names hold them. */
export function withDash(version: string): string {
  return version.replaceAll('.', '-');
}

/**
 * What was completed, from spec and status together. The status is lost when clusterctl moves a Cluster to another
 * management cluster; the class in the spec is not, nor is the annotation that distinguishes installations from upgrades.
 * The status is written first: if it names another release than the spec's class, the spec is behind. The version is that
 * of the class only while no hook is unfinished. Hooks stay completed until others are: a class that is only recorded has
 * the same add-ons.
 */
function recordOf(
  { metadata, spec, status }: ClusterAddon,
  { className, classNamespace, release }: Gathered,
): Situation['record'] {
  const { version = '', hook = '' } = spec;
  const { lastRelease, lastReleaseNamespace = metadata.namespace, appliedDigest, completedHooks } = status ?? {};
  const wanted = classText(classNamespace, className);
  const completed = completedClass({ metadata, spec });
  const written = completed === undefined ? '' : classText(completed.namespace ?? '', completed.name);
  // A release of this name in another namespace is another one.
  const isOfRelease = lastRelease === release.metadata.name && lastReleaseNamespace === classNamespace;
  const isSpecBehind = lastRelease !== undefined && written === wanted;
  const isSettled = hook === '' && appliedDigest !== undefined;
  const wasUpgraded = metadata.annotations?.[addonStageAnnotation] === 'upgraded';
  return {
    completedClass: isOfRelease ? wanted : isSpecBehind ? classText(lastReleaseNamespace, lastRelease) : written,
    addonVersion: isSettled ? version : '',
    completedHooks:
      (completedHooks as readonly AddonHook[] | undefined) ??
      (wasUpgraded ? ['BeforeClusterUpgrade'] : ['AfterControlPlaneInitialized']),
  };
}

const classText = (namespace: string, name: string): string => `${namespace}/${name}`;

async function workersOf({ cluster }: Dependencies, { metadata }: CapiCluster, signal: AbortSignal) {
  const { name, namespace } = metadata;
  const options = { namespace, labelSelector: `${clusterNameLabel}=${name}`, signal };
  return (await cluster.list(capiMachineDeployment, options)).items;
}
