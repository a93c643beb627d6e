import type { ClusterAddon, ClusterAddonStatus } from '../../api/clusterstack/cluster-addon.ts';
import type { StackCondition } from '../../api/clusterstack/stack-condition.ts';
import { withSeverity } from '../../api/clusterstack/with-severity.ts';
import type { NewCondition } from '../../runtime/conditions.ts';
import { setConditions } from '../../runtime/conditions.ts';
import type { Obstacle } from './stage-error.ts';

/** Condition types in the order in which a visit finds them out: those before an obstacle hold, those after are not known. */
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

/** What a visit has found. */
export interface Findings {
  /** Fields of the status that change; undefined ones go. */
  readonly changes: { readonly [F in keyof ClusterAddonStatus]?: ClusterAddonStatus[F] | undefined };
  readonly obstacle?: Obstacle;
  /** A stage that takes longer than it may, in words. */
  readonly overdue?: string | undefined;
  readonly now: Date;
}

/** The whole status of a ClusterAddon after a visit. */
export function statusOf(addon: ClusterAddon, { changes, obstacle, overdue, now }: Findings): ClusterAddonStatus {
  const before = addon.status ?? { ready: false };
  const at = { generation: addon.metadata.generation ?? 0, now };
  const told = [...partsOf(obstacle), readyOf(obstacle, overdue)];
  const conditions = setConditions(withTexts(before.conditions), told, at);
  const rests = obstacle?.type === 'Ready';
  const fields = Object.entries({ ...before, ...changes }).filter(([, value]) => value !== undefined);
  return {
    ...(Object.fromEntries(fields) as Partial<ClusterAddonStatus>),
    observedGeneration: at.generation,
    ready: rests ? before.ready : obstacle === undefined,
    conditions: withSeverity(conditions),
  };
}

function partsOf(obstacle: Obstacle | undefined): readonly NewCondition[] {
  const done = (type: string): NewCondition => ({ type, status: 'True', reason: 'Succeeded', message: '' });
  if (obstacle === undefined) return order.map(done);
  const { type, reason, message } = obstacle;
  const index = order.findIndex((one) => one === type);
  if (index < 0) return [];
  return [...order.slice(0, index).map(done), { type, status: 'False', reason, message }];
}

function readyOf(obstacle: Obstacle | undefined, overdue: string | undefined): NewCondition {
  const type = 'Ready';
  if (obstacle === undefined) return { type, status: 'True', reason: 'Ready', message: '' };
  const { reason, message } = obstacle;
  if (overdue === undefined) return { type, status: 'False', reason, message };
  return { type, status: 'False', reason: 'StageTimedOut', message: `${overdue}: ${message}` };
}

/** Conditions of the cluster-stack-operator may lack what a condition must have. */
function withTexts(conditions: readonly StackCondition[] = []): readonly StackCondition[] {
  return conditions.map((condition) => ({ ...condition, reason: condition.reason || 'Unknown' }));
}
