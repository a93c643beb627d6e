import type { DataStore } from '../../../api/steward/v1alpha1/data-store.ts';

/** One DataStore in a table. */
export interface DataStoreRow {
  readonly name: string;
  readonly driver: string;
  readonly version: string;
  readonly ready: 'True' | 'False' | 'Unknown';
  readonly reason: string;
  readonly tenants: string;
  readonly available: string;
  readonly size: string;
  readonly drain: string;
  readonly created: string | undefined;
}

const units = ['B', 'KiB', 'MiB', 'GiB', 'TiB'] as const;

/** Bytes with a binary unit and three digits at most. */
export function bytesText(bytes: number): string {
  const power = Math.min(units.length - 1, Math.floor(Math.log2(Math.max(bytes, 1)) / 10));
  const value = bytes / 1024 ** power;
  return `${power === 0 || value >= 100 ? Math.round(value) : Number(value.toPrecision(3))} ${units[power] ?? 'B'}`;
}

/** What a table shows of a DataStore. */
export function dataStoreRow({ metadata, spec, status }: DataStore): DataStoreRow {
  const ready = status?.conditions?.find(({ type }) => type === 'Ready');
  const { tenants, availableTenants, sizeBytes, drain } = status ?? {};
  return {
    name: metadata.name,
    driver: spec.driver,
    version: status?.serverVersion ?? '',
    ready: ready?.status ?? 'Unknown',
    reason: ready?.reason ?? 'NotReported',
    tenants: String(tenants ?? 0),
    available: availableTenants === undefined ? 'unlimited' : String(availableTenants),
    size: sizeBytes === undefined ? '' : bytesText(sizeBytes),
    drain: drain === undefined ? '' : `${drain.remaining} left`,
    created: metadata.creationTimestamp,
  };
}
