/** What a pod of a control plane takes while it is awake and nobody calls, measured just before that day. */
export interface PodNeeds {
  readonly memoryMiB: number;
  readonly cores: number;
}

/** What a day was for one tenant. */
export interface DayRow {
  readonly tenant: string;
  /** When it was used, as text. */
  readonly used: string;
  readonly hours: number;
  readonly hoursAsleep: number;
  /** How often it woke up, by cause. */
  readonly wakes: { readonly byRequest: number; readonly bySchedule: number; readonly byPerson: number };
  /** How often it was to wake up. */
  readonly wantedWakes: number;
  /** How long those waited who came first, in milliseconds. */
  readonly firstMs: readonly number[];
  /** The same of all others. */
  readonly otherMs: readonly number[];
  /** What failed calls said. */
  readonly failed: readonly string[];
  /** When the rests began after which it did not fall asleep in time, as text. */
  readonly late: readonly string[];
  readonly pod: PodNeeds;
}

/** The part of `status.sleep` that counts. */
export interface SleepLedger {
  readonly state?: string;
  readonly since?: string;
  readonly ended?: {
    readonly seconds?: number;
    readonly byRequest?: number;
    readonly bySchedule?: number;
    readonly byPerson?: number;
  };
}

/** How long a control plane has slept until now, and how often it woke up, as it says itself. */
export function readLedger(
  { state, since = '', ended = {} }: SleepLedger,
  now: Date,
): Pick<DayRow, 'hoursAsleep' | 'wakes'> {
  const { seconds = 0, byRequest = 0, bySchedule = 0, byPerson = 0 } = ended;
  const current = state === 'Asleep' ? (now.getTime() - Date.parse(since)) / 1000 : 0;
  return { hoursAsleep: (seconds + current) / 3600, wakes: { byRequest, bySchedule, byPerson } };
}

/** What sleep has saved: the hours of a pod, and what it would have taken in them. */
export function savedBy({ hoursAsleep, pod }: Pick<DayRow, 'hoursAsleep' | 'pod'>): {
  readonly podHours: number;
  readonly gibHours: number;
  readonly cpuHours: number;
} {
  return {
    podHours: hoursAsleep,
    gibHours: (hoursAsleep * pod.memoryMiB) / 1024,
    cpuHours: hoursAsleep * pod.cores,
  };
}

/** Of a day; the rest is what its beginning takes. */
const leastHours = 23.9;

/** Whether the clocks did not pass a day, somebody waited in vain, or a control plane was not awake when, and only when, somebody called. */
export function isDisturbed({ failed, late, wakes, wantedWakes, hours, hoursAsleep }: DayRow): boolean {
  const count = wakes.byRequest + wakes.bySchedule + wakes.byPerson;
  return (
    hours < leastHours ||
    failed.length > 0 ||
    late.length > 0 ||
    count !== wantedWakes ||
    wakes.byRequest !== wantedWakes ||
    hoursAsleep === 0
  );
}
