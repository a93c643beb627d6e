import { numberOf } from '../../api/quantity.ts';
import type { QuotaStatus } from '../../api/steward/v1alpha1/quota-status.ts';
import type { QuotaRoom } from './written-data.ts';

/** What a tenant may still store, by its status; undefined as long as it has not been measured. */
export function quotaRoom(status: Readonly<Record<string, unknown>> | undefined): QuotaRoom | undefined {
  const { hard, used } = (status?.quota ?? {}) as Partial<QuotaStatus>;
  if (hard === undefined || used === undefined) return undefined;
  const { dataSize, objects } = hard;
  const room = dataSize === undefined ? Infinity : (numberOf(dataSize) ?? 0) - (numberOf(used.dataSize ?? 0) ?? 0);
  return { objects: objects === undefined ? Infinity : objects - (used.objects ?? 0), bytes: room };
}
