import type { AddonStageStatus } from '../../../api/cluster-addon.ts';
import type { AppliedResource } from '../../../api/applied-resource.ts';
import { messageOf } from '../../../../runtime/reconcile/conditions.ts';
import { ApiError, UnreachableError } from '../../../../runtime/client/errors.ts';
import type { AddonStage } from '../../../sources/cluster-addon-config.ts';
import { applyObjects } from '../workload/apply-objects.ts';
import { deleteObjects } from '../workload/delete-objects.ts';
import type { InventoryItem } from '../workload/inventory.ts';
import { itemIdentity, withItems, withoutItems } from '../workload/inventory.ts';
import type { PreparedStage } from './render-stage.ts';
import { prepareStage } from './render-stage.ts';
import { shortened } from '../shortened.ts';
import type { Blocker } from '../stage-error.ts';
import { StageError, lookAgain } from '../stage-error.ts';
import { mostListed, refusals, resourceOf } from '../refusals.ts';
import type { StageTools } from './stage-tools.ts';
import { placeStage } from './stage-tools.ts';
import { evaluate } from '../workload/wait-objects.ts';
import { driftMs } from '../addon-memory.ts';

/** How far a reconcile has brought a stage. */
export interface StageResult {
  readonly status: AddonStageStatus;
  readonly inventory: readonly InventoryItem[];
  readonly resources: readonly AppliedResource[];
  /** Absent: the stage is done. */
  readonly blocker?: Blocker;
}

/**
 * Advances a stage as far as possible: condition before, objects applied or deleted, condition after. Its progress is in
 * its status, so that any other process can continue from there.
 */
export async function advanceStage(
  stage: AddonStage,
  { status, inventory }: { readonly status: AddonStageStatus; readonly inventory: readonly InventoryItem[] },
  tools: StageTools,
): Promise<StageResult> {
  const started = { ...status, startedAt: status.startedAt ?? secondsOf(tools.now) };
  const at = { status: started, inventory, resources: [] };
  try {
    return await conditionBefore(stage, at, tools);
  } catch (error) {
    const blocker = blockerOf(error, tools.inputs.signal);
    return { ...at, status: { ...started, message: blocker.message }, blocker };
  }
}

/** What an error of a stage means; throws what neither the stage nor its workload cluster has caused. */
export function blockerOf(error: unknown, signal: AbortSignal): Blocker {
  signal.throwIfAborted();
  if (error instanceof StageError) return error.blocker;
  if (!(error instanceof UnreachableError) && !(error instanceof ApiError)) throw error;
  const message = shortened(`request to the workload cluster failed: ${messageOf(error)}`);
  return { type: 'ClusterReady', reason: 'ControlPlaneNotReady', message, afterMs: lookAgain.usual };
}

type Step = (stage: AddonStage, at: StageResult, tools: StageTools) => Promise<StageResult>;

const conditionBefore: Step = async (stage, at, tools) => {
  const { phase = '' } = at.status;
  if (phase === 'applyingOrDeleting' || phase === 'waitingForPostCondition') return act(stage, at, tools);
  const verdict = await evaluate(stage.before, tools.target);
  if (verdict.is === 'holds') return act(stage, inPhase(at, 'applyingOrDeleting'), tools);
  return stopped(inPhase(at, 'waitingForPreCondition'), {
    type: 'EvaluatedCEL',
    reason: 'FailedToEvaluatePreCondition',
    message: `stage ${stage.name} has not started: ${verdict.message}`,
    afterMs: lookAgain.usual,
  });
};

const act: Step = async (stage, at, tools) => {
  const prepared = await prepareStage(stage, tools.inputs);
  const { phase, digest } = at.status;
  const { keptAt } = tools.memory;
  const isFresh = keptAt !== undefined && tools.now.getTime() - keptAt < driftMs;
  if (phase === 'waitingForPostCondition' && digest === prepared.digest && isFresh) {
    return conditionAfter(stage, at, tools);
  }
  const acting = inPhase(at, 'applyingOrDeleting');
  const acted = stage.action === 'apply' ? await apply(prepared, acting, tools) : await remove(prepared, acting, tools);
  if (acted.blocker !== undefined) return acted;
  tools.memory.keptAt = tools.now.getTime();
  tools.memory.passed.clear();
  const status = { ...inPhase(acted, 'waitingForPostCondition').status, digest: prepared.digest };
  return conditionAfter(stage, { ...acted, status }, tools);
};

const conditionAfter: Step = async (stage, at, tools) => {
  const verdict = await evaluate(stage.after, tools.target);
  if (verdict.is === 'holds') return inPhase(at, 'done');
  return stopped(at, {
    type: 'EvaluatedCEL',
    reason: 'FailedToEvaluatePostCondition',
    message: `stage ${stage.name} is not complete: ${verdict.message}`,
    afterMs: lookAgain.usual,
  });
};

async function apply(prepared: PreparedStage, at: StageResult, tools: StageTools): Promise<StageResult> {
  const { placed, items } = await placeStage(prepared, tools);
  const inventory = withItems(at.inventory, items);
  // Written down first: what is applied and in no inventory would never be removed.
  if (inventory !== at.inventory) return stopped({ ...at, inventory }, writtenDown(prepared));
  const { failures } = await applyObjects(placed, tools.target);
  return failures.length === 0
    ? at
    : { ...stopped(at, refusals(prepared.stage, failures)), resources: failures.slice(0, mostListed).map(resourceOf) };
}

/** The reconcile ends here so that the status is stored, and is requeued at once. */
function writtenDown({ stage }: PreparedStage): Blocker {
  const message = `objects of stage ${stage.name} are about to be applied`;
  return { type: 'HelmChartApplied', reason: 'ObjectsApplyingOngoing', message, afterMs: 0 };
}

async function remove(prepared: PreparedStage, at: StageResult, tools: StageTools): Promise<StageResult> {
  const { items } = await placeStage(prepared, tools);
  const own = at.inventory.filter(({ stage }) => stage === prepared.stage.name);
  const all = [...new Map([...items, ...own].map((item) => [itemIdentity(item), item])).values()];
  const { gone, left } = await deleteObjects(all, { ...tools.target, spares: false });
  const after = { ...at, inventory: withoutItems(at.inventory, gone) };
  if (left.length === 0) return after;
  const listed = left.slice(0, 10).map(({ item, message }) => `${item.kind} ${item.name} ${message}`);
  return stopped(after, {
    type: 'HelmChartDeleted',
    reason: 'FailedToDeleteObjects',
    message: `stage ${prepared.stage.name}: ${listed.join('; ')}`,
    afterMs: lookAgain.soon,
  });
}

function inPhase(at: StageResult, phase: NonNullable<AddonStageStatus['phase']>): StageResult {
  const { name, action, startedAt, digest } = at.status;
  return { ...at, status: { name, action, phase, startedAt, digest } };
}

function stopped(at: StageResult, blocker: Blocker): StageResult {
  return { ...at, status: { ...at.status, message: blocker.message }, blocker };
}

function secondsOf(date: Date): string {
  return date.toISOString().replace(/\.\d{3}Z$/, 'Z');
}
