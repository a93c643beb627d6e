import type { AddonStageStatus, ClusterAddon, ClusterAddonSpec } from '../../../api/cluster-addon.ts';
import { clusterAddon } from '../../../api/cluster-addon.ts';
import { completedClass } from '../../../api/completed-class.ts';
import { addonStageAnnotation, regenerateAnnotation } from '../../../api/names.ts';
import type { Context, ReconcileResult } from '../../../../runtime/reconcile/controller.ts';
import { describe, keyOf } from '../../../../runtime/cache/object-id.ts';
import type { AddonStage } from '../../../sources/cluster-addon-config.ts';
import type { AddonMemory } from '../addon-memory.ts';
import { driftMs } from '../addon-memory.ts';
import { advanceStage, blockerOf } from './advance-stage.ts';
import { definitionOutdated } from '../definition-outdated.ts';
import type { Dependencies } from '../dependencies.ts';
import { fieldManager } from '../dependencies.ts';
import { Discovery } from '../discovery.ts';
import type { GatheredState } from '../gather-state.ts';
import { withDash } from '../gather-state.ts';
import type { HookStep } from './hook-due.ts';
import { keptStages } from './hook-due.ts';
import type { KeepResult } from './keep-stages.ts';
import { digestOfStages, keepStages, prepareStages } from './keep-stages.ts';
import { recreateAnnotation } from '../names.ts';
import type { Blocker } from '../stage-error.ts';
import { StageError, lookAgain } from '../stage-error.ts';
import type { StageTools } from './stage-tools.ts';
import type { Findings } from '../status.ts';
import { statusOf } from '../status.ts';
import { notReady, openWorkload } from '../workload/workload.ts';

/** What one reconcile works with. */
export interface ReconcileTools {
  readonly deps: Dependencies;
  readonly ctx: Context;
  readonly memory: AddonMemory;
}

type Changes = Findings['changes'];
type Run = Extract<HookStep, { is: 'run' }>;

/** How long a stage may take unless it says so itself, in milliseconds. */
const usualTimeoutMs = 30 * 60_000;

/** Does what is due for a ClusterAddon, as far as it goes now. */
export async function reconcileHook(
  gathered: GatheredState,
  tools: ReconcileTools,
): Promise<ReconcileResult<ClusterAddon>> {
  const { step, cluster, addon } = gathered;
  if (step.is === 'wait') {
    throw notReady(`the control plane of the Cluster ${cluster.metadata.name} is not initialized yet`);
  }
  if (step.is === 'record') {
    const changes = {
      ...lastReleaseOf(gathered),
      completedHooks: gathered.completedHooks,
      appliedDigest: undefined,
    };
    return { status: statusOf(addon, { changes, now: tools.ctx.now }), afterMs: 0 };
  }
  if (await wroteSpec(gathered, tools)) return {};
  const workload = await openWorkload(tools.deps, gathered, tools.ctx.signal);
  const stageTools = stageToolsOf(gathered, tools, workload);
  return step.is === 'run'
    ? runHook(gathered, step, { ...tools, stageTools })
    : rest(gathered, step, { ...tools, stageTools });
}

/**
 * Records in the spec what the controller of the control plane reads: which hook runs, and which class is completed. True when it
 * was not recorded yet; the change causes another reconcile, which then acts.
 * @throws StageError when the API server does not keep it.
 */
async function wroteSpec(gathered: GatheredState, { deps, ctx }: ReconcileTools): Promise<boolean> {
  const { addon, step, className, classNamespace, assets } = gathered;
  const version = withDash(assets.metadata.clusterAddon);
  const { hook = '', version: had = '' } = addon.spec;
  const completed = completedClass(addon);
  const wanted: Partial<ClusterAddonSpec> =
    step.is === 'run'
      ? { hook: step.hook, version }
      : { hook: '', version, clusterStack: className, ...namespaceOf(gathered) };
  const stage = gathered.completedHooks.includes('BeforeClusterUpgrade') ? 'upgraded' : 'created';
  const annotations = step.is === 'run' ? {} : { [addonStageAnnotation]: stage };
  const isSpecThere =
    hook === wanted.hook &&
    had === version &&
    (step.is === 'run' || (completed?.name === className && completed.namespace === classNamespace));
  const isMarked = Object.entries(annotations).every(([key, value]) => addon.metadata.annotations?.[key] === value);
  if (isSpecThere && isMarked) return false;
  const { name, namespace, resourceVersion } = addon.metadata;
  const body = { metadata: { annotations, resourceVersion }, spec: wanted };
  const options = { fieldManager, signal: ctx.signal };
  const after = await deps.cluster.patch(clusterAddon, { name, namespace }, { type: 'merge', body }, options);
  const lost = Object.entries(wanted).filter(([field, value]) => (fieldsOf(after.spec)[field] ?? '') !== value);
  // Then nothing has changed, so no watch event follows.
  if (lost.length > 0) throw new StageError(definitionOutdated(lost.map(([field]) => `spec.${field}`)));
  return true;
}

const fieldsOf = (spec: object): Readonly<Partial<Record<string, unknown>>> => ({ ...spec });

/** Left out where it is that of the ClusterAddon: it stays the same when Cluster API moves both to another namespace. */
function namespaceOf({ addon, classNamespace }: GatheredState): Partial<ClusterAddonSpec> {
  if (classNamespace !== addon.metadata.namespace) return { clusterStackNamespace: classNamespace };
  return addon.spec.clusterStackNamespace === undefined ? {} : { clusterStackNamespace: '' };
}

function stageToolsOf(
  { addon, assets, root }: GatheredState,
  { deps, ctx, memory }: ReconcileTools,
  workload: StageTools['target']['cluster'],
): StageTools {
  const { signal, now } = ctx;
  const annotations = addon.metadata.annotations ?? {};
  return {
    inputs: {
      renderer: deps.renderer,
      assets,
      root: { ...root },
      requester: keyOf(addon),
      values: memory.values,
      signal,
    },
    target: {
      cluster: workload,
      discovery: new Discovery(workload, signal),
      ...{ memory: memory.applied, passed: memory.passed, now },
      recreates: annotations[recreateAnnotation] === 'true',
      regeneration: annotations[regenerateAnnotation] ?? '',
      signal,
    },
    memory,
    now,
  };
}

type Tools = ReconcileTools & { readonly stageTools: StageTools };

async function runHook(gathered: GatheredState, step: Run, tools: Tools): Promise<ReconcileResult<ClusterAddon>> {
  const { addon, className, assets } = gathered;
  const { stageTools, ctx } = tools;
  const run = { class: className, digest: assets.digest, hook: step.hook };
  const isSame = JSON.stringify(addon.status?.run) === JSON.stringify(run);
  let stages = step.stages.map((stage) => (isSame ? statusFor(stage, addon) : pending(stage)));
  let inventory = addon.status?.inventory ?? [];
  for (const [index, stage] of step.stages.entries()) {
    const status = stages[index] ?? pending(stage);
    if (status.phase === 'done') continue;
    const result = await advanceStage(stage, { status, inventory }, stageTools);
    stages = stages.with(index, result.status);
    ({ inventory } = result);
    if (result.blocker === undefined) continue;
    const { resources, blocker } = result;
    const changes: Changes = { run, stages, inventory, resources, appliedDigest: undefined };
    const late = overdue(stage, result.status, ctx.now);
    return stopped(gathered, { changes, blocker, overdue: late, now: ctx.now }, tools.memory);
  }
  return finish({ gathered, step, tools }, { run, stages, inventory, appliedDigest: undefined });
}

/** All stages are done: what they do not name anymore goes, and only then is the hook completed. */
async function finish(
  { gathered, step, tools }: { readonly gathered: GatheredState; readonly step: Run; readonly tools: Tools },
  changes: Changes,
): Promise<ReconcileResult<ClusterAddon>> {
  const { ctx } = tools;
  const kept = await keep(gathered, keptStages(gathered.config, step.completes), {
    ...tools,
    inventory: changes.inventory ?? [],
  });
  if (kept.blocker !== undefined) {
    const { inventory, resources, blocker } = kept;
    return stopped(gathered, { changes: { ...changes, inventory, resources }, blocker, now: ctx.now }, tools.memory);
  }
  ctx.event('Normal', 'HookCompleted', `${step.hook} of ${gathered.release.metadata.name} is completed`);
  const completed = completedBy(gathered, kept, step.completes);
  return { status: statusOf(gathered.addon, { changes: completed, now: ctx.now }), afterMs: 0 };
}

/** No hook is due: what was applied is checked for drift when its values change, and at intervals. */
async function rest(
  gathered: GatheredState,
  step: Extract<HookStep, { is: 'rest' }>,
  tools: Tools,
): Promise<ReconcileResult<ClusterAddon>> {
  const { addon, config, completedHooks } = gathered;
  const { ctx, memory, stageTools } = tools;
  const again = step.awaits === undefined ? driftMs : Math.min(driftMs, lookAgain.late / 2);
  const stages = keptStages(config, completedHooks);
  const { keptAt } = memory;
  const isFresh = keptAt !== undefined && ctx.now.getTime() - keptAt < driftMs;
  if (isFresh && addon.status?.appliedDigest !== undefined) {
    const blocker = await changedValues(stages, addon.status.appliedDigest, stageTools);
    if (blocker === undefined) {
      const left = driftMs - (ctx.now.getTime() - keptAt);
      return { status: statusOf(addon, { changes: {}, now: ctx.now }), afterMs: Math.min(again, left) };
    }
  }
  const kept = await keep(gathered, stages, { ...tools, inventory: addon.status?.inventory ?? [] });
  if (kept.blocker !== undefined) {
    const { inventory, resources, blocker } = kept;
    const changes = { inventory, resources, appliedDigest: undefined };
    return stopped(gathered, { changes, blocker, now: ctx.now }, memory);
  }
  if (kept.drifted.length > 0) {
    const names = kept.drifted.slice(0, 10).map(describe).join(', ');
    ctx.event('Normal', 'DriftRepaired', `restored objects that someone else had changed or deleted: ${names}`);
  }
  const changes = completedBy(gathered, kept, completedHooks);
  return { status: statusOf(addon, { changes, now: ctx.now }), afterMs: again };
}

/** Why the stages have to be applied again, if so. */
async function changedValues(
  stages: readonly AddonStage[],
  appliedDigest: string,
  tools: StageTools,
): Promise<'changed' | undefined> {
  try {
    const digest = digestOfStages(await prepareStages(stages, tools), tools);
    return digest === appliedDigest ? undefined : 'changed';
  } catch (error) {
    blockerOf(error, tools.inputs.signal);
    return 'changed';
  }
}

type Kept = KeepResult & { readonly digest: string };

async function keep(
  { config }: GatheredState,
  stages: readonly AddonStage[],
  { stageTools, memory, ctx, inventory }: Tools & { readonly inventory: KeepResult['inventory'] },
): Promise<Kept> {
  try {
    const prepared = await prepareStages(stages, stageTools);
    const result = await keepStages(prepared, { inventory, config }, stageTools);
    if (result.blocker === undefined) remember(memory, ctx.now);
    return { ...result, digest: digestOfStages(prepared, stageTools) };
  } catch (error) {
    const blocker = blockerOf(error, ctx.signal);
    return { inventory, resources: [], drifted: [], blocker, digest: '' };
  }
}

function completedBy(gathered: GatheredState, { inventory, digest }: Kept, hooks: readonly string[]): Changes {
  const nothing = { stages: [], resources: [], run: undefined };
  return { ...nothing, ...lastReleaseOf(gathered), inventory, completedHooks: hooks, appliedDigest: digest };
}

const lastReleaseOf = ({ release, classNamespace }: GatheredState): Changes => ({
  lastRelease: release.metadata.name,
  lastReleaseNamespace: classNamespace,
});

/** All is as it should be. */
function remember(memory: AddonMemory, now: Date): void {
  memory.keptAt = now.getTime();
  memory.passed.clear();
  memory.pauses.reset();
  memory.rendered.forget(memory.uid);
}

function stopped(
  { addon }: GatheredState,
  findings: Findings & { readonly blocker: Blocker },
  { pauses }: AddonMemory,
): ReconcileResult<ClusterAddon> {
  const { blocker, changes, overdue } = findings;
  const { inventory = [], stages = [] } = changes;
  const place = JSON.stringify([inventory.length, stages.map(({ phase, digest }) => [phase, digest])]);
  // A condition is waited for at its own pace, as long as it may take.
  const isWaiting = blocker.type === 'EvaluatedCEL' && overdue === undefined;
  const afterMs = isWaiting ? blocker.afterMs : pauses.after(blocker, place);
  return { status: statusOf(addon, findings), afterMs };
}

const pending = ({ name, action }: AddonStage): AddonStageStatus => ({ name, action, phase: 'Pending' });

function statusFor(stage: AddonStage, { status }: ClusterAddon): AddonStageStatus {
  const found = status?.stages?.find(({ name, action }) => name === stage.name && action === stage.action);
  return found ?? pending(stage);
}

function overdue({ name, timeoutMs = usualTimeoutMs }: AddonStage, status: AddonStageStatus, now: Date) {
  const since = now.getTime() - Date.parse(status.startedAt ?? now.toISOString());
  if (since <= timeoutMs) return undefined;
  return `stage ${name} did not finish within ${Math.round(timeoutMs / 1000)} s`;
}
