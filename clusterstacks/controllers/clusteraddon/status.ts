import type { ClusterAddon, ClusterAddonStatus } from '../../api/cluster-addon.ts';
import type { StackCondition } from '../../api/stack-condition.ts';
import { withSeverity } from '../../api/with-severity.ts';
import type { NewCondition } from '../../../runtime/reconcile/conditions.ts';
import { setConditions } from '../../../runtime/reconcile/conditions.ts';
import type { Blocker } from './stage-error.ts';

/** Condition types in the order in which a reconcile evaluates them: those before a failure are True, those after it are Unknown. */
const order = [
  'AssetsClientAPIAvailable',
  'ClusterStackReleaseDownloaded',
  'ClusterAddonConfigValidated',
  'HookServerReady',
  'ClusterReady',
  'HelmChartFound',
  'HelmChartTemplated',
  'EvaluatedCEL',
  'HelmChartApplied',
  'HelmChartDeleted',
] as const;

/** What a reconcile has found. */
export interface Findings {
  /** Fields of the status that change; undefined ones go. */
  readonly changes: { readonly [F in keyof ClusterAddonStatus]?: ClusterAddonStatus[F] | undefined };
  readonly blocker?: Blocker;
  /** A stage that takes longer than it may, as text. */
  readonly overdue?: string | undefined;
  readonly now: Date;
}

/** The whole status of a ClusterAddon after a reconcile. */
export function statusOf(addon: ClusterAddon, { changes, blocker, overdue, now }: Findings): ClusterAddonStatus {
  const before = addon.status ?? { ready: false };
  const at = { generation: addon.metadata.generation, now };
  const current = [...partsOf(blocker), readyOf(blocker, overdue)];
  const conditions = setConditions(withTexts(before.conditions), current, at);
  const rests = blocker?.type === 'Ready';
  const fields = Object.entries<unknown>({ ...before, ...changes }).filter(([, value]) => value !== undefined);
  return {
    ...(Object.fromEntries(fields) as Partial<ClusterAddonStatus>),
    observedGeneration: at.generation,
    ready: rests ? before.ready : blocker === undefined,
    conditions: withSeverity(conditions),
  };
}

function partsOf(blocker: Blocker | undefined): readonly NewCondition[] {
  const done = (type: string): NewCondition => ({ type, status: 'True', reason: 'Succeeded', message: '' });
  if (blocker === undefined) return order.map(done);
  const { type, reason, message } = blocker;
  const index = order.findIndex((one) => one === type);
  if (index < 0) return [];
  return [...order.slice(0, index).map(done), { type, status: 'False', reason, message }];
}

function readyOf(blocker: Blocker | undefined, overdue: string | undefined): NewCondition {
  const type = 'Ready';
  if (blocker === undefined) return { type, status: 'True', reason: 'Ready', message: '' };
  const { reason, message } = blocker;
  if (overdue === undefined) return { type, status: 'False', reason, message };
  return { type, status: 'False', reason: 'StageTimedOut', message: `${overdue}: ${message}` };
}

/** Conditions of the cluster-stack-operator may lack what a condition must have. */
function withTexts(conditions: readonly StackCondition[] = []): readonly StackCondition[] {
  return conditions.map((condition) => ({ ...condition, reason: condition.reason || 'Unknown' }));
}
