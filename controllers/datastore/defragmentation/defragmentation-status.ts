import { stateCondition } from '../../../api/conditions.ts';
import type { StatedCondition } from '../../../api/conditions.ts';
import { numberOf } from '../../../api/quantity.ts';
import type { DataStore, DataStoreStatus } from '../../../api/steward/v1alpha1/data-store.ts';
import type { DataStoreDefragmentation, DefragmentedMember } from '../../../api/steward/v1alpha1/data-store-etcd.ts';
import { setConditions, withoutConditions } from '../../../runtime/reconcile/conditions.ts';
import type {
  DefragmentationLimits,
  DefragmentationStep,
  DefragmentedServer,
} from '../../../stores/defragmentation.ts';

const type = 'Defragmented';

/** When the servers of a DataStore are defragmented. */
export function limitsOf(spec: DataStoreDefragmentation): DefragmentationLimits {
  return {
    freePercent: spec.freePercent,
    // The schema admits quantities only.
    minimumBytes: numberOf(spec.minimumSize) ?? Infinity,
    maximumPauseMs: spec.maximumPauseSeconds * 1000,
  };
}

/** What the status says about earlier defragmentations of the endpoints that the spec still has. */
export function previousOf({ spec, status }: DataStore): readonly DefragmentedServer[] {
  const known = status?.etcd?.defragmented ?? [];
  return known
    .filter(({ endpoint }) => spec.endpoints.includes(endpoint))
    .map(({ time, pauseMilliseconds, ...one }) => ({ ...one, time: new Date(time), pauseMs: pauseMilliseconds }));
}

/** The status after a step. Without a step it is unchanged, except that what the spec does not request is removed. */
export function withDefragmentation(
  store: DataStore,
  status: DataStoreStatus,
  { step, now }: { readonly step: DefragmentationStep | undefined; readonly now: Date },
): DataStoreStatus {
  if (store.spec.etcd?.defragmentation === undefined) {
    return { ...status, conditions: withoutConditions(status.conditions ?? [], [type]) };
  }
  const defragmented = membersAfter(store, step);
  const at = { generation: store.metadata.generation, now };
  return {
    ...status,
    ...(step !== undefined && { conditions: setConditions(status.conditions ?? [], [conditionOf(step)], at) }),
    ...((status.etcd !== undefined || defragmented.length > 0) && {
      etcd: { ...status.etcd, ...(defragmented.length > 0 && { defragmented }) },
    }),
  };
}

/** The Event of a step that changed something, or of what it waits for and did not before. */
export function eventOf(
  before: DataStoreStatus | undefined,
  step: DefragmentationStep,
): readonly [type: 'Normal' | 'Warning', reason: string, message: string] | undefined {
  const { status, reason, message } = conditionOf(step);
  if (step.is === 'unneeded') return undefined;
  if (step.is !== 'waits') return ['Normal', reason, message];
  const known = before?.conditions?.find((condition) => condition.type === type);
  return known?.status === status && known.reason === reason ? undefined : ['Warning', reason, message];
}

function membersAfter(store: DataStore, step: DefragmentationStep | undefined): readonly DefragmentedMember[] {
  const known = (store.status?.etcd?.defragmented ?? []).filter(({ endpoint }) =>
    store.spec.endpoints.includes(endpoint),
  );
  if (step?.is !== 'defragmented') return known;
  const { endpoint, time, sizeBytes, freedBytes, pauseMs } = step.server;
  const member = { endpoint, time: secondsOf(time), sizeBytes, freedBytes, pauseMilliseconds: pauseMs };
  return [...known.filter((one) => one.endpoint !== endpoint), member];
}

function secondsOf(date: Date): string {
  return date.toISOString().replace(/\.\d{3}Z$/, 'Z');
}

function conditionOf(step: DefragmentationStep): StatedCondition {
  const working = (message: string): StatedCondition =>
    stateCondition('DataStore', { type, status: 'False', reason: 'Defragmenting', message });
  switch (step.is) {
    case 'unneeded':
      return stateCondition('DataStore', { type, status: 'True', reason: 'Defragmented', message: '' });
    case 'defragmented': {
      const { endpoint, freedBytes, pauseMs } = step.server;
      const freed = `${Math.round(freedBytes / 2 ** 20)} MiB`;
      return working(`${endpoint} was defragmented in ${(pauseMs / 1000).toFixed(1)} s, which freed ${freed}`);
    }
    case 'disarmed':
      return working('the quota was used up; space was freed, and writes are accepted again');
    case 'waits':
      return stateCondition('DataStore', { type, status: 'False', reason: step.reason, message: step.message });
  }
}
