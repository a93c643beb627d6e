/** Variable of the environment: how many times slower than two good processors this machine is. */
export const slownessVariable = 'STEWARD_SLOWER';

/** What the environment says; undefined when it says nothing. Throws an error for what is no number above 0. */
export function givenSlowness(text = process.env[slownessVariable] ?? ''): number | undefined {
  if (text === '') return undefined;
  const said = Number(text);
  if (said > 0 && said < Infinity) return said;
  throw new Error(`${slownessVariable} is "${text}": give a number, 2 for twice the time.`);
}

/** By how much time limits are extended here. A fast machine is given no less time than a good one. */
export function slowness(): number {
  return Math.max(givenSlowness() ?? 1, 1);
}
