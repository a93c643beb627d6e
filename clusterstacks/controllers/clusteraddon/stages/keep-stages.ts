import type { AppliedResource } from '../../../api/applied-resource.ts';
import type { Manifest } from '../../../../api/meta.ts';
import type { AddonStage, ClusterAddonConfig } from '../../../sources/cluster-addon-config.ts';
import { applyObjects } from '../workload/apply-objects.ts';
import { deleteObjects } from '../workload/delete-objects.ts';
import { digestOf } from '../../../sources/generated-parts.ts';
import type { InventoryItem } from '../workload/inventory.ts';
import { superfluousItems, withItems, withoutItems } from '../workload/inventory.ts';
import { mostListed, refusals, resourceOf } from '../refusals.ts';
import type { PreparedStage } from './render-stage.ts';
import { prepareStage } from './render-stage.ts';
import type { Blocker } from '../stage-error.ts';
import { lookAgain } from '../stage-error.ts';
import type { PlacedStage, StageTools } from './stage-tools.ts';
import { placeStage } from './stage-tools.ts';

/** The result of checking all stages. */
export interface KeepResult {
  readonly inventory: readonly InventoryItem[];
  readonly resources: readonly AppliedResource[];
  /** Objects that someone had changed or deleted. */
  readonly drifted: readonly Manifest[];
  readonly blocker?: Blocker;
}

/** Expands the values of all stages. */
export async function prepareStages(
  stages: readonly AddonStage[],
  { inputs }: StageTools,
): Promise<readonly PreparedStage[]> {
  return Promise.all(stages.map((stage) => prepareStage(stage, inputs)));
}

/** A hash over all inputs of the stages, including requests to recreate objects. */
export function digestOfStages(stages: readonly PreparedStage[], { target }: StageTools): string {
  return digestOf([target.regeneration, ...stages.map(({ digest }) => digest)]);
}

/**
 * Makes the workload cluster hold what the stages render, without their conditions, and removes what they do not name anymore.
 * Nothing is removed before all is applied.
 */
export async function keepStages(
  stages: readonly PreparedStage[],
  at: { readonly inventory: readonly InventoryItem[]; readonly config: ClusterAddonConfig },
  tools: StageTools,
): Promise<KeepResult> {
  const placed: PlacedStage[] = [];
  for (const stage of stages) placed.push(await placeStage(stage, tools));
  const rendered = placed.flatMap(({ items }) => items);
  const inventory = withItems(at.inventory, rendered);
  const nothing = { inventory, resources: [], drifted: [] };
  if (inventory !== at.inventory) {
    const message = 'objects are about to be applied';
    return {
      ...nothing,
      blocker: { type: 'HelmChartApplied', reason: 'ObjectsApplyingOngoing', message, afterMs: 0 },
    };
  }
  const drifted: Manifest[] = [];
  for (const { prepared, placed: objects } of placed) {
    const outcome = await applyObjects(objects, tools.target);
    drifted.push(...outcome.drifted);
    if (outcome.failures.length === 0) continue;
    const resources = outcome.failures.slice(0, mostListed).map(resourceOf);
    return { inventory, drifted, resources, blocker: refusals(prepared.stage, outcome.failures) };
  }
  const ran = new Set(stages.map(({ stage }) => stage.name));
  const superfluous = superfluousItems({ inventory, ran, rendered, config: at.config });
  return { ...(await prune(inventory, superfluous, tools)), drifted };
}

async function prune(
  inventory: readonly InventoryItem[],
  superfluous: readonly InventoryItem[],
  { target }: StageTools,
): Promise<Omit<KeepResult, 'drifted'>> {
  const { gone, left } = await deleteObjects(superfluous, { ...target, spares: true });
  const kept = gone.length === 0 ? inventory : withoutItems(inventory, gone);
  if (left.length === 0) return { inventory: kept, resources: [] };
  const listed = left.slice(0, 10).map(({ item, message }) => `${item.kind} ${item.name} ${message}`);
  return {
    inventory: kept,
    resources: [],
    blocker: {
      type: 'HelmChartDeleted',
      reason: 'FailedToDeleteObjects',
      message: `objects that are no longer part of any stage: ${listed.join('; ')}`,
      afterMs: lookAgain.soon,
    },
  };
}
