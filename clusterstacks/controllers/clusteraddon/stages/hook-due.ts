import type { AddonHook, AddonStage, ClusterAddonConfig } from '../../../sources/cluster-addon-config.ts';
import { readReleaseName, releaseOfClass } from '../../../sources/release-name.ts';

/** What is known of a Cluster and of what was done for it. Class names are those of ClusterClasses, `namespace/name`. */
export interface Situation {
  readonly className: string;
  /** Add-on version and Kubernetes version of the class's release, and its stages. */
  readonly release: { readonly addonVersion: string; readonly kubernetes: string; readonly config: ClusterAddonConfig };
  readonly isInitialized: boolean;
  /** Version that the control plane reports; undefined before the first. */
  readonly controlPlaneVersion: string | undefined;
  /** Why the upgrade is not over, as text; undefined when control plane and workers have the release's version. */
  readonly upgradeAwaits: string | undefined;
  readonly record: {
    /** Class whose add-ons were completed last, or its release where only that is known; '' before the first. */
    readonly completedClass: string;
    readonly addonVersion: string;
    /** Hooks that were completed for that class. */
    readonly completedHooks: readonly AddonHook[];
  };
}

/** What is to be done now. */
export type HookStep =
  | { readonly is: 'wait' }
  | {
      readonly is: 'run';
      readonly hook: AddonHook;
      readonly stages: readonly AddonStage[];
      /** Hooks that are completed when this one is. */
      readonly completes: readonly AddonHook[];
    }
  /** The class is another one, and its add-ons are the same: only that is written down. */
  | { readonly is: 'record' }
  | { readonly is: 'rest'; readonly awaits?: string };

/**
 * Which hook is due. Everything follows from the current state, so that a missed call has no effect: a Cluster without add-ons
 * gets them once its control plane is initialized; another class has the stages before an upgrade run, whether or not the Kubernetes
 * version changes; those after it follow when control plane and workers have the version. A hook of a class that is not wanted
 * anymore is left.
 */
export function hookDue(situation: Situation): HookStep {
  const { className, release, record } = situation;
  const { completedClass, completedHooks } = record;
  const run = (hook: AddonHook, before: readonly AddonHook[]): HookStep => {
    return { is: 'run', hook, stages: release.config.stages[hook] ?? [], completes: [...before, hook] };
  };
  if (!situation.isInitialized) return { is: 'wait' };
  if (completedClass === '') return run('AfterControlPlaneInitialized', []);
  if (completedClass !== className)
    return isSameContent(situation) ? { is: 'record' } : run('BeforeClusterUpgrade', []);
  const hasMore = (release.config.stages.AfterClusterUpgrade ?? []).length > 0;
  const isUpgraded = completedHooks.includes('BeforeClusterUpgrade');
  if (!hasMore || !isUpgraded || completedHooks.includes('AfterClusterUpgrade')) return { is: 'rest' };
  if (situation.upgradeAwaits !== undefined) return { is: 'rest', awaits: situation.upgradeAwaits };
  return run('AfterClusterUpgrade', completedHooks);
}

function isSameContent({ className, release, record, controlPlaneVersion }: Situation): boolean {
  const { completedClass, addonVersion } = record;
  const isSameStack = stackOf(completedClass) === stackOf(className);
  return isSameStack && addonVersion === release.addonVersion && controlPlaneVersion === release.kubernetes;
}

/** Versions are those of one stack in one namespace: another's add-ons of that version are other add-ons. */
function stackOf(classText: string): string {
  const [namespace = '', name = ''] = classText.split('/');
  return `${namespace}/${readReleaseName(releaseOfClass(name))?.stack ?? ''}`;
}

/** The stages whose objects are kept as they are: all that the completed hooks apply, but for what a later stage deletes. */
export function keptStages({ stages }: ClusterAddonConfig, hooks: readonly AddonHook[]): readonly AddonStage[] {
  const kept = new Map<string, AddonStage>();
  for (const stage of hooks.flatMap((hook) => stages[hook] ?? [])) {
    if (stage.action === 'delete') kept.delete(stage.name);
    else kept.set(stage.name, stage);
  }
  return [...kept.values()];
}
