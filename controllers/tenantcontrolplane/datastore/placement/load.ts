import { counted } from '../../../../api/counted.ts';
import { bytesText, numberOf } from '../../../../api/quantity.ts';
import type { DataStore } from '../../../../api/steward/v1alpha1/data-store.ts';

/** How full a DataStore is; unknown or unlimited parts are absent. */
export interface Load {
  /** Tenants that it holds or will hold. */
  readonly tenants: number;
  readonly mostTenants?: number;
  /** Bytes. */
  readonly size?: number;
  /** Bytes. */
  readonly mostSize?: number;
}

/** With this many tenants, a datastore without a limit counts as loaded as a full one with a limit. */
const usualTenants = 100;

/** How full the datastore is with this many tenants. */
export function loadOf({ spec, status }: DataStore, tenants: number): Load {
  const { tenants: mostTenants, size: quantity } = spec.placement?.capacity ?? {};
  const mostSize = quantity === undefined ? undefined : numberOf(quantity);
  return { tenants, mostTenants, size: status?.sizeBytes, mostSize };
}

/** True when there is no room for one more tenant. */
export function isFull({ tenants, mostTenants = Infinity, size = 0, mostSize = Infinity }: Load): boolean {
  return tenants >= mostTenants || size >= mostSize;
}

/**
 * 0 when the datastore is empty, 1 when it is full, by tenants or by bytes, whichever is scarcer. Only for one that is not full.
 */
export function fullness({ tenants, mostTenants = usualTenants, size = 0, mostSize = Infinity }: Load): number {
  return Math.max(tenants / mostTenants, size / mostSize);
}

/** The load for messages: `holds 3 of 10 tenants and 1.2 GiB of 8 GiB`. */
export function loadText({ tenants, mostTenants, size, mostSize }: Load): string {
  const people = mostTenants === undefined ? counted(tenants, 'tenant') : `${tenants} of ${mostTenants} tenants`;
  if (size === undefined) return `holds ${people}`;
  return `holds ${people} and ${bytesText(size)}${mostSize === undefined ? '' : ` of ${bytesText(mostSize)}`}`;
}
