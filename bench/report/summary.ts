import { percentile } from './percentile.ts';

/** The summary of a series of measurements, in their unit. */
export interface Summary {
  readonly count: number;
  readonly min: number;
  readonly p50: number;
  readonly max: number;
}

/**
 * Sums a series up.
 * @throws RangeError when it is empty.
 */
export function summarize(values: readonly number[]): Summary {
  return {
    count: values.length,
    min: percentile(values, 0),
    p50: percentile(values, 50),
    max: percentile(values, 100),
  };
}
