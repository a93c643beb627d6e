import type { DataStore } from '../../../api/steward/v1alpha1/data-store.ts';
import type { Progress } from '../control-plane/follow-object.ts';
import { conditionLine, currentCondition } from '../control-plane/ready-condition.ts';

/** How far a drain is. */
export function drainProgress(store: DataStore): Progress {
  const drained = currentCondition(store, 'Drained');
  if (drained === undefined) return { state: 'waiting', line: 'the manager has not seen the request yet' };
  if (drained.status === 'True') return { state: 'done', line: conditionLine(drained) };
  const { remaining, migrating } = store.status?.drain ?? {};
  if (migrating === undefined) return { state: 'waiting', line: conditionLine(drained) };
  const { tenant, dataStoreName, phase } = migrating;
  return { state: 'waiting', line: `${remaining ?? 0} left; ${tenant} to ${dataStoreName}: ${phase}` };
}
