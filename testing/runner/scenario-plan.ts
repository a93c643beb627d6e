/** What a plan is made from. */
export interface PlanInputs {
  /** Seconds that each scenario takes on two good processors, by its name. */
  readonly seconds: ReadonlyMap<string, number>;
  /** Scenarios that may be left out, the first of them first. */
  readonly mayWait: readonly string[];
  /** How many times slower this machine is. */
  readonly slowness: number;
  readonly secondsLeft: number;
}

/** How many scenarios run beside each other. */
const lanes = 2;

/** Which scenarios are left out so that the others end in time; as few as possible, and never one that may not wait. */
export function leftOutForTime({ seconds, mayWait, slowness, secondsLeft }: PlanInputs): readonly string[] {
  const rest = new Map(seconds);
  const leftOut: string[] = [];
  const isTooLong = (): boolean => estimate(rest) * slowness > secondsLeft;
  for (const name of mayWait) {
    if (!isTooLong()) break;
    if (!rest.delete(name)) continue;
    leftOut.push(name);
  }
  return leftOut;
}

/** Seconds until all have ended, when the longest begin first. */
function estimate(seconds: ReadonlyMap<string, number>): number {
  const all = [...seconds.values()];
  const sum = all.reduce((total, one) => total + one, 0);
  return Math.max(sum / lanes, ...all);
}
