import { numberOf } from '../../../api/quantity.ts';
import type { Quota } from './quota-part.ts';
import { refilledInMs } from './writes-bucket.ts';
import type { WritesBucket } from './writes-bucket.ts';

/** Between two measurements, in milliseconds. */
const shortest = 3_000;
const longest = 60_000;

/** Faster than this nobody fills a datastore through one API server, per second. */
const fastest = { bytes: 20 * 2 ** 20, keys: 2_000, writes: 2_000 } as const;

/** A measurement may take a fifth of the time: it reads all data where the datastore has no figures. */
const pausePerWork = 4;

/** A measurement that succeeded. */
export interface TimedMeasurement {
  readonly bytes: number;
  readonly keys: number;
  readonly tookMs: number;
}

/**
 * When a tenant is measured next, in milliseconds: before it can have reached a limit, however fast it writes, but not more often than
 * every three seconds. The rate is limited by what a measurement costs.
 */
export function measureInterval({ dataSize, objects }: Quota, last: TimedMeasurement | undefined): number {
  if (last === undefined) return shortest;
  const room = [
    dataSize === undefined ? undefined : ((numberOf(dataSize) ?? 0) - last.bytes) / fastest.bytes,
    objects === undefined ? undefined : (objects - last.keys) / fastest.keys,
  ].filter((seconds) => seconds !== undefined);
  // One that has reached a limit is watched closely as well, because it may write again soon.
  return paced(1000 * Math.min(...room), last.tookMs);
}

/**
 * When the writes of a tenant are counted next, in milliseconds: before it can have written all that it may, or when it may write again.
 */
export function countInterval(bucket: WritesBucket | undefined, tookMs: number): number {
  if (bucket === undefined) return shortest;
  return paced(bucket.isEmpty ? refilledInMs(bucket) : (1000 * bucket.left) / fastest.writes, tookMs);
}

function paced(ms: number, tookMs: number): number {
  return Math.max(Math.min(Math.max(ms, shortest), longest), pausePerWork * tookMs);
}
