import type { Summary } from './summary.ts';

/** How many times as long as the floor something takes, by median and by worst case. */
export interface Ratio {
  readonly p50: number;
  readonly max: number;
}

type Compared = Pick<Summary, 'p50' | 'max'>;

/** @throws RangeError for a floor that takes no time, which no measurement gives. */
export function ratio(ours: Compared, floor: Compared): Ratio {
  if (floor.p50 <= 0) throw new RangeError(`a floor of ${floor.p50} cannot be compared with`);
  return { p50: ours.p50 / floor.p50, max: ours.max / floor.max };
}
