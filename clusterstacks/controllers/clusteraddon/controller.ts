import { capiCluster, capiMachineDeployment } from '../../../api/cluster-api/kinds.ts';
import { clusterNameLabel } from '../../../api/cluster-api/names.ts';
import type { ClusterAddon, ClusterAddonStatus } from '../../api/cluster-addon.ts';
import { clusterAddon } from '../../api/cluster-addon.ts';
import { clusterStackRelease } from '../../api/cluster-stack-release.ts';
import { clusterStackFinalizers } from '../../api/names.ts';
import type { Context, Controller, ReconcileResult } from '../../../runtime/reconcile/controller.ts';
import { access } from './access.ts';
import type { AddonMemory } from './addon-memory.ts';
import { AddonMemories } from './addon-memory.ts';
import { definitionOutdated } from './definition-outdated.ts';
import type { Dependencies } from './dependencies.ts';
import { gatherState } from './gather-state.ts';
import { isWatched } from './is-watched.ts';
import { StageError } from './stage-error.ts';
import { statusOf } from './status.ts';
import { reconcileHook } from './stages/reconcile-hook.ts';
import { addonOfCluster, addonsOfMachineDeployment, addonsOfRelease } from './watches.ts';

/** Keeps the add-ons of each Cluster as the release of its class describes them, and takes them through upgrades in order. */
export function clusterAddonController(deps: Dependencies): Controller<ClusterAddon> {
  const memories = new AddonMemories(deps.random, deps.memory);
  return {
    name: 'clusteraddon',
    kind: clusterAddon,
    access,
    // Nothing has to be done before one goes, so that none stays behind where the layer is switched off; others set it.
    formerFinalizers: [clusterStackFinalizers.addon],
    watches: [
      { kind: capiCluster, optional: true, keys: addonOfCluster },
      { kind: capiMachineDeployment, labelSelector: clusterNameLabel, keys: addonsOfMachineDeployment },
      { kind: clusterStackRelease, keys: addonsOfRelease(deps.seen) },
    ],
    timeoutMs: reconcileMs,
    serves: isWatched(deps.watchFilter),
    async reconcile(addon, ctx): Promise<ReconcileResult<ClusterAddon>> {
      const memory = memories.of(addon.metadata.uid);
      if (Object.keys(memory.echo.lost).length > 0) return lostResult(addon, { ctx, memory });
      try {
        const gathered = await gatherState(deps, addon, ctx);
        const result = await reconcileHook(gathered, { deps, ctx, memory });
        if (result.afterMs === 0) return { ...result, stored: observed(memory, result.status) };
        if (result.afterMs !== undefined) memory.echo.reset();
        return result;
      } catch (error) {
        if (error instanceof StageError) return stoppedResult(addon, error, { ctx, memory });
        throw error;
      }
    },
  };
}

/** Charts are rendered and dozens of objects applied in one reconcile. */
const reconcileMs = 180_000;

interface Tools {
  readonly ctx: Context;
  readonly memory: AddonMemory;
}

/** Nothing more is done before what was done can be written down; that alone is tried again. */
function lostResult(addon: ClusterAddon, { ctx, memory }: Tools): ReconcileResult<ClusterAddon> {
  const { lost } = memory.echo;
  const blocker = definitionOutdated(Object.keys(lost).map((name) => `status.${name}`));
  const status = statusOf(addon, { changes: lost, blocker, now: ctx.now });
  const afterMs = memory.pauses.after(blocker, '');
  return { status, stored: observed(memory, lost), afterMs };
}

const observed =
  ({ echo }: AddonMemory, sent: Partial<ClusterAddonStatus> = {}) =>
  ({ status }: ClusterAddon): void => {
    echo.compare(sent, status);
  };

function stoppedResult(
  addon: ClusterAddon,
  { blocker }: StageError,
  { ctx, memory }: Tools,
): ReconcileResult<ClusterAddon> {
  const afterMs = memory.pauses.after(blocker, '');
  const status = statusOf(addon, { changes: {}, blocker, now: ctx.now });
  return { status, afterMs };
}
