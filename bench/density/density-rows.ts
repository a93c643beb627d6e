import { percentile } from '../report/percentile.ts';
import type { FloodStore } from '../flood/flood-rows.ts';
import type { Part } from './usage/machine-usage.ts';

/**
 * What was loaded: a datastore; etcd once more with one connection for each tenant in place of one for each kind; or the floor, which
 * answers everything with the same and keeps nothing.
 */
export type DensitySeries = 'floor' | FloodStore | 'etcd, one connection';

/** How long writes took, in milliseconds. */
export interface Spread {
  readonly count: number;
  readonly p50: number;
  readonly p90: number;
  readonly p99: number;
  readonly most: number;
}

/** Why no more tenants were added. */
export const ends = ['slow', 'failed', 'processors', 'memory', 'files', 'time', 'steps'] as const;
export type End = (typeof ends)[number];

/** One datastore with so many tenants. */
export interface DensityRow {
  readonly series: DensitySeries;
  readonly tenants: number;
  readonly seconds: number;
  /** Writes of all tenants but the measured one; absent when nothing was measured. */
  readonly others?: Spread;
  /** Writes of the measured tenant. */
  readonly measured?: Spread;
  /** Calls and watches that failed, and for example why. */
  readonly failed: number;
  readonly failure?: string;
  /** Processors in cores, and the part of all cores that was busy. */
  readonly cores: Readonly<Record<Part | 'others', number>>;
  readonly busy: number;
  /** Memory at the end. What several processes share is divided among them. */
  readonly memoryMiB: Readonly<Record<Part | 'available', number>>;
  /** Of the server. */
  readonly connections: number;
  readonly diskMiB: number;
  /** Of the last number of tenants: why it is the last. */
  readonly end?: End;
}

/** Sums up; absent when there is nothing. */
export function spreadOf(ms: readonly number[]): Spread | undefined {
  if (ms.length === 0) return undefined;
  const at = (p: number): number => Math.round(percentile(ms, p) * 10) / 10;
  return { count: ms.length, p50: at(50), p90: at(90), p99: at(99), most: at(100) };
}

/** The 99th percentile that counts: of the measured tenant, or of all others, whichever is longer. */
export function worstP99({ others, measured }: Pick<DensityRow, 'others' | 'measured'>): number | undefined {
  const both = [others, measured].flatMap((spread) => (spread === undefined ? [] : [spread.p99]));
  return both.length === 0 ? undefined : Math.max(...both);
}

/** Rows of each series in their order. */
export function seriesOf(rows: readonly DensityRow[]): ReadonlyMap<DensitySeries, readonly DensityRow[]> {
  return Map.groupBy(rows, ({ series }) => series);
}
