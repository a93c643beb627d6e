import { worstP99 } from './density-rows.ts';
import type { DensityRow, End } from './density-rows.ts';

/** A tenant's writes are slow from here on, in milliseconds. */
export const slowMs = 1_000;

/** From here on the processors are used up: everything takes longer with every tenant, whatever the datastore. */
export const mostBusy = 0.97;

/** What the machine keeps free, MiB. */
const reserveMiB = 2_048;

/** A step with less than so many times the tenants says nothing new. */
const leastGrowth = 1.15;

/** What limits a curve besides what is measured. */
export interface Limits {
  /** Memory that was available without tenants, MiB. */
  readonly availableAtFirst: number;
  /** Connections of one tenant, and files that one process may have. */
  readonly filesOfTenant: number;
  readonly mostFiles: number;
  /** When the time of this curve is over, and how long one tenant takes to be added, in milliseconds. */
  readonly leftMs: number;
  readonly tenantMs: number;
}

/** More tenants, or why not. */
export type NextStep = { readonly tenants: number } | { readonly end: End };

/** What follows a measured step. Where the next one does not fit, as many as fit are tried. */
export function nextStep(row: DensityRow, steps: readonly number[], limits: Limits): NextStep {
  const p99 = worstP99(row);
  if (p99 === undefined || p99 > slowMs) return { end: p99 === undefined ? 'failed' : 'slow' };
  if (row.failed > 0) return { end: 'failed' };
  if (row.busy >= mostBusy) return { end: 'processors' };
  const wanted = steps.find((tenants) => tenants > row.tenants);
  if (wanted === undefined) return { end: 'steps' };
  return fitting(row, wanted, limits);
}

function fitting({ tenants, memoryMiB }: DensityRow, wanted: number, limits: Limits): NextStep {
  const each = Math.max((limits.availableAtFirst - memoryMiB.available) / tenants, 0);
  const room = (free: number, one: number): number => (one === 0 ? Infinity : Math.floor(free / one));
  const rooms = [
    { end: 'memory', tenants: tenants + room(memoryMiB.available - reserveMiB, each) },
    { end: 'files', tenants: room(limits.mostFiles, limits.filesOfTenant) },
    { end: 'time', tenants: tenants + room(limits.leftMs, limits.tenantMs) },
  ] as const;
  const least = rooms.reduce((one, other) => (other.tenants < one.tenants ? other : one));
  if (least.tenants >= wanted) return { tenants: wanted };
  const tens = Math.floor(least.tenants / 10) * 10;
  return tens >= tenants * leastGrowth ? { tenants: tens } : { end: least.end };
}
