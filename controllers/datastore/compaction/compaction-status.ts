import { stateCondition } from '../../../api/conditions.ts';
import type { StatedCondition } from '../../../api/conditions.ts';
import type { DataStore, DataStoreStatus } from '../../../api/steward/v1alpha1/data-store.ts';
import type { DataStoreCompaction, EarlyCompactionStatus } from '../../../api/steward/v1alpha1/data-store-etcd.ts';
import { bytesText } from '../../../api/quantity.ts';
import { setConditions, withoutConditions } from '../../../runtime/reconcile/conditions.ts';
import type { CompactionLimits, CompactionStep, EarlyCompaction } from '../../../stores/compaction.ts';

const type = 'SpaceReserved';

/** For so long after an early compaction the condition names it, in milliseconds. */
const namedMs = 10 * 60_000;

/** How often the status names another one, in milliseconds: while a tenant floods an etcd, there is one every few seconds. */
const renamedMs = 30_000;

/** When the history of a DataStore is compacted early. */
export function limitsOf({ usedPercent, historySeconds }: DataStoreCompaction): CompactionLimits {
  return { usedPercent, historyMs: historySeconds * 1000 };
}

/** The status after a look, or without one. What the spec does not request is removed. */
export function withCompaction(
  store: DataStore,
  status: DataStoreStatus,
  { step, now }: { readonly step: Pick<CompactionStep, 'compaction' | 'without'> | undefined; readonly now: Date },
): DataStoreStatus {
  const before = status.conditions ?? [];
  if (store.spec.etcd?.compaction === undefined) {
    return { ...status, conditions: withoutConditions(before, [type]) };
  }
  const known = store.status?.etcd?.compacted;
  const isRecent = known !== undefined && now.getTime() - Date.parse(known.time) < renamedMs;
  const compacted = step?.compaction === undefined || isRecent ? known : statusOf(step.compaction);
  const condition = step === undefined ? undefined : conditionOf(step, compacted, now);
  const at = { generation: store.metadata.generation, now };
  return {
    ...status,
    ...(condition !== undefined && { conditions: setConditions(before, [condition], at) }),
    ...((status.etcd !== undefined || compacted !== undefined) && {
      etcd: { ...status.etcd, ...(compacted !== undefined && { compacted }) },
    }),
  };
}

/** The Event when compactions begin, or when there is no room for history and there was before. */
export function eventOf(
  before: DataStoreStatus | undefined,
  after: DataStoreStatus,
): readonly [type: 'Warning', reason: string, message: string] | undefined {
  const conditionIn = (status: DataStoreStatus | undefined) => status?.conditions?.find((one) => one.type === type);
  const [was, is] = [conditionIn(before), conditionIn(after)];
  if (is === undefined || is.reason === 'SpaceReserved' || is.reason === was?.reason) return undefined;
  return ['Warning', is.reason, is.message];
}

function statusOf({ endpoint, time, inUseBytes, historyMs }: EarlyCompaction): EarlyCompactionStatus {
  const seconds = time.toISOString().replace(/\.\d{3}Z$/, 'Z');
  return { endpoint, time: seconds, inUseBytes, historySeconds: Math.round(historyMs / 1000) };
}

/** Undefined while it is unknown whether there is room: then the condition stays as it is. */
function conditionOf(
  { compaction, without }: Pick<CompactionStep, 'compaction' | 'without'>,
  last: EarlyCompactionStatus | undefined,
  now: Date,
): StatedCondition | undefined {
  if (without !== undefined && without !== 'unknown') {
    return stateCondition('DataStore', { type, status: 'False', ...without });
  }
  if (without === 'unknown' && compaction === undefined) return undefined;
  if (last !== undefined && now.getTime() - Date.parse(last.time) < namedMs) {
    const { endpoint, inUseBytes, historySeconds } = last;
    const message = `${endpoint} had ${bytesText(inUseBytes)} in use, so its history was compacted but for the last ${historySeconds} s`;
    return stateCondition('DataStore', { type, status: 'True', reason: 'CompactedEarly', message });
  }
  return stateCondition('DataStore', { type, status: 'True', reason: 'SpaceReserved', message: '' });
}
