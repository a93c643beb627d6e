import type { Condition } from '../../../api/meta.ts';
import { conditionTable } from '../../../api/conditions.ts';
import type { ConditionRow } from '../../../api/condition-row.ts';
import type { DataStore } from '../../../api/steward/v1alpha1/data-store.ts';

/** One thing that is right or wrong with a DataStore. */
export interface DataStoreCheck {
  readonly check: string;
  readonly ok: boolean;
  readonly detail: string;
}

/** Conditions that report work, not a state of health. */
const notHealth: readonly string[] = ['Drained', 'Deleting'];

/** What the manager reports of a DataStore, and whether it is the report of the present spec. */
export function verifyDataStore({ metadata, status }: DataStore): readonly DataStoreCheck[] {
  const isCurrent = (status?.observedGeneration ?? 0) >= metadata.generation;
  const observed = {
    check: 'Observed',
    ok: isCurrent,
    detail: isCurrent
      ? 'the manager has seen the present spec'
      : 'the manager has not seen the present spec; check that it runs',
  };
  const rows: Readonly<Record<string, ConditionRow>> = conditionTable.DataStore;
  const isGood = ({ type, status: state }: Condition): boolean =>
    state === (rows[type]?.polarity === 'negative' ? 'False' : 'True');
  const conditions = (status?.conditions ?? []).filter(({ type }) => !notHealth.includes(type));
  const hasReady = conditions.some(({ type }) => type === 'Ready');
  return [
    observed,
    ...conditions.map((condition) => ({
      check: condition.type,
      ok: isGood(condition),
      detail: condition.message === '' ? condition.reason : `${condition.reason}: ${condition.message}`,
    })),
    ...(hasReady ? [] : [{ check: 'Ready', ok: false, detail: 'not reported yet' }]),
  ];
}
