import type { DataStore } from '../../../../api/steward/v1alpha1/data-store.ts';

/** Why a DataStore whose live data nearly fills it accepts no new tenant, as the end of a sentence; undefined while it has room. */
export function reserveRefusal({ status }: DataStore): string | undefined {
  const found = status?.conditions?.find(({ type }) => type === 'SpaceReserved');
  const isSpent = found?.status === 'False' && found.reason === 'LiveDataTooLarge';
  return isSpent ? 'has no space in reserve, because its live data nearly uses up its quota' : undefined;
}
