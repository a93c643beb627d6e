import { capiCluster, capiMachineDeployment } from '../../api/cluster-api/kinds.ts';
import { clusterNameLabel } from '../../api/cluster-api/names.ts';
import type { ClusterAddon, ClusterAddonStatus } from '../../api/clusterstack/cluster-addon.ts';
import { clusterAddon } from '../../api/clusterstack/cluster-addon.ts';
import { clusterStackRelease } from '../../api/clusterstack/cluster-stack-release.ts';
import { clusterStackFinalizers } from '../../api/clusterstack/names.ts';
import type { Context, Controller, Visit } from '../../runtime/controller.ts';
import { access } from './access.ts';
import type { AddonMemory } from './addon-memory.ts';
import { AddonMemories } from './addon-memory.ts';
import { definitionOutdated } from './definition-outdated.ts';
import type { Dependencies } from './dependencies.ts';
import { gatherVisit } from './gather-visit.ts';
import { isWatched } from './is-watched.ts';
import { StageError } from './stage-error.ts';
import { statusOf } from './status.ts';
import { visitHook } from './visit-hook.ts';
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
      { kind: capiCluster, keys: addonOfCluster },
      { kind: capiMachineDeployment, labelSelector: clusterNameLabel, keys: addonsOfMachineDeployment },
      { kind: clusterStackRelease, keys: addonsOfRelease(deps.seen) },
    ],
    timeoutMs: visitMs,
    serves: isWatched(deps.watchFilter),
    async reconcile(addon, ctx): Promise<Visit<ClusterAddon>> {
      const memory = memories.of(addon.metadata.uid ?? '');
      if (Object.keys(memory.echo.lost).length > 0) return lostVisit(addon, { ctx, memory });
      try {
        const gathered = await gatherVisit(deps, addon, ctx);
        const visit = await visitHook(gathered, { deps, ctx, memory });
        if (visit.afterMs === 0) return { ...visit, stored: heardOf(memory, visit.status) };
        if (visit.afterMs !== undefined) memory.echo.reset();
        return visit;
      } catch (error) {
        if (error instanceof StageError) return stoppedVisit(addon, error, { ctx, memory });
        throw error;
      }
    },
  };
}

/** Charts are rendered and dozens of objects applied in one visit. */
const visitMs = 180_000;

interface Tools {
  readonly ctx: Context;
  readonly memory: AddonMemory;
}

/** Nothing more is done before what was done can be written down; that alone is tried again. */
function lostVisit(addon: ClusterAddon, { ctx, memory }: Tools): Visit<ClusterAddon> {
  const { lost } = memory.echo;
  const obstacle = definitionOutdated(Object.keys(lost).map((name) => `status.${name}`));
  const status = statusOf(addon, { changes: lost, obstacle, now: ctx.now });
  const afterMs = memory.pauses.after(obstacle, '');
  return { status, stored: heardOf(memory, lost), ...(afterMs === undefined ? {} : { afterMs }) };
}

const heardOf =
  ({ echo }: AddonMemory, told: Partial<ClusterAddonStatus> = {}) =>
  ({ status }: ClusterAddon): void => {
    echo.heard(told, status);
  };

function stoppedVisit(addon: ClusterAddon, { obstacle }: StageError, { ctx, memory }: Tools): Visit<ClusterAddon> {
  const afterMs = memory.pauses.after(obstacle, '');
  const status = statusOf(addon, { changes: {}, obstacle, now: ctx.now });
  return { status, ...(afterMs === undefined ? {} : { afterMs }) };
}
