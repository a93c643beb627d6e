import type { Condition } from '../../../api/meta.ts';
import type { DataStore } from '../../../api/steward/v1alpha1/data-store.ts';

/** Why a DataStore cannot be used, from its own condition; undefined while it can, or while it has not been checked yet. */
export function storeTrouble({ status }: DataStore): Pick<Condition, 'reason' | 'message'> | undefined {
  const ready = status?.conditions?.find(({ type }) => type === 'Ready');
  return ready?.status === 'False' ? { reason: ready.reason, message: ready.message } : undefined;
}
