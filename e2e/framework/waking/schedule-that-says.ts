/** A schedule of `spec.sleep`. */
export interface Schedule {
  readonly sleep: string;
  readonly wake: string;
}

const minuteMs = 60_000;
const halfDayMs = 12 * 60 * minuteMs;

/** A schedule by which a control plane has slept for some minutes, or has been awake for some, and goes on so for half a day. */
export function scheduleThatSays(state: 'asleep' | 'awake', now: number = Date.now()): Schedule {
  const [began, ends] = [daily(now - 3 * minuteMs), daily(now + halfDayMs)];
  return state === 'asleep' ? { sleep: began, wake: ends } : { sleep: ends, wake: began };
}

function daily(time: number): string {
  const date = new Date(time);
  return `${date.getUTCMinutes()} ${date.getUTCHours()} * * *`;
}
