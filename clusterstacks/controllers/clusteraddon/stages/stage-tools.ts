import type { AddonMemory } from '../addon-memory.ts';
import type { ApplyTarget, PlacedRenderings } from '../workload/apply-objects.ts';
import { placeRenderings } from '../workload/apply-objects.ts';
import type { InventoryItem } from '../workload/inventory.ts';
import { itemOf } from '../workload/inventory.ts';
import { digestOf } from '../../../sources/generated-parts.ts';
import type { PreparedStage, RenderInputs } from './render-stage.ts';
import { renderStage } from './render-stage.ts';

/** What the stages of one reconcile work with. */
export interface StageTools {
  readonly inputs: RenderInputs;
  readonly target: ApplyTarget;
  readonly memory: AddonMemory;
  readonly now: Date;
}

/** A stage as it would be applied, and what the inventory has to hold before. */
export interface PlacedStage {
  readonly prepared: PreparedStage;
  readonly placed: PlacedRenderings;
  readonly items: readonly InventoryItem[];
}

/** Renders a stage and finds out where its objects belong. What is not served yet is in no inventory: it is not applied either. */
export async function placeStage(prepared: PreparedStage, tools: StageTools): Promise<PlacedStage> {
  const { discovery } = tools.target;
  const apiVersions = await discovery.apiVersions();
  const digest = digestOf([prepared.digest, apiVersions]);
  const { memory, target, inputs } = tools;
  const owner = { uid: memory.uid, regeneration: target.regeneration };
  const renderings = await memory.rendered.of(digest, owner, () => renderStage(prepared, inputs, apiVersions));
  const placed = await placeRenderings(renderings, discovery);
  const items = [...placed.stable, ...placed.generated].flatMap(({ manifest, kind }) =>
    kind === undefined ? [] : [itemOf(manifest, prepared.stage.name)],
  );
  return { prepared, placed, items };
}
