import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import type { SleepSchedule } from '../../../api/embedded/sleep.ts';
import { readSchedule } from './read-schedule.ts';
import type { ReadSchedule } from './read-schedule.ts';
import { scheduledSleep } from './scheduled-sleep.ts';

const minuteMs = 60_000;
const at = (text: string): number => Date.parse(text);

function read(schedules: readonly SleepSchedule[], now: number): readonly ReadSchedule[] {
  return schedules.map((schedule) => {
    const found = readSchedule(schedule, now);
    if ('reason' in found) throw new Error(found.reason);
    return found;
  });
}

/** `asleep until …` or `awake until …`. */
function ask(schedules: readonly SleepSchedule[], text: string): string {
  const { isAsleep, next, again } = scheduledSleep(read(schedules, at(text)), at(text));
  if (again !== undefined) return `${isAsleep ? 'asleep' : 'awake'} until somebody asks again`;
  const until = next === undefined ? 'ever' : new Date(next).toISOString().replace(':00.000Z', 'Z');
  return `${isAsleep ? 'asleep' : 'awake'} until ${until}`;
}

const nights = { sleep: '0 20 * * *', wake: '0 7 * * *' };
const weekends = { sleep: '0 18 * * 5', wake: '0 7 * * 1' };
const berlin = { ...nights, timeZone: 'Europe/Berlin' };

describe('Schedules', () => {
  test.each([
    ['2030-01-01T19:59:59Z', 'awake until 2030-01-01T20:00Z'],
    ['2030-01-01T20:00:00Z', 'asleep until 2030-01-02T07:00Z'],
    ['2030-01-02T06:59:59Z', 'asleep until 2030-01-02T07:00Z'],
    ['2030-01-02T07:00:00Z', 'awake until 2030-01-02T20:00Z'],
  ])('say at %s: %s', (now, expected) => {
    expect(ask([nights], now)).toBe(expected);
  });

  test.each([
    ['a Friday evening', '2030-01-04T18:30:00Z', 'asleep until 2030-01-07T07:00Z'],
    ['a Saturday noon, at which only one says so', '2030-01-05T12:00:00Z', 'asleep until 2030-01-07T07:00Z'],
    ['a Monday noon', '2030-01-07T12:00:00Z', 'awake until 2030-01-07T20:00Z'],
  ])('that overlap sleep while one of them says so: %s', (_name, now, expected) => {
    expect(ask([nights, weekends], now)).toBe(expected);
  });

  test('follow their own time zone', () => {
    expect(ask([berlin], '2030-01-01T19:30:00Z')).toBe('asleep until 2030-01-02T06:00Z');
    expect(ask([berlin], '2030-07-01T18:30:00Z')).toBe('asleep until 2030-07-02T05:00Z');
    expect(ask([{ ...nights, timeZone: 'Asia/Kathmandu' }], '2030-01-01T14:14:59Z')).toBe(
      'awake until 2030-01-01T14:15Z',
    );
  });

  test.each([
    // Clocks show 02:00 to 03:00 twice on 2030-10-27.
    ['a time that comes twice counts when it comes first', '0 20 * * *', '30 2 * * *', '2030-10-27T00:31:00Z', 'awake'],
    ['and not again', '0 20 * * *', '30 2 * * *', '2030-10-27T01:05:00Z', 'awake'],
    ['nor does a sleep that ended between', '10 2 * * *', '40 2 * * *', '2030-10-27T01:20:00Z', 'awake'],
    // Clocks are turned from 02:00 to 03:00 on 2030-03-31.
    ['a time that is skipped counts at once', '0 20 * * *', '30 2 * * *', '2030-03-31T01:00:00Z', 'awake'],
    ['but not before', '0 20 * * *', '30 2 * * *', '2030-03-31T00:59:59Z', 'asleep'],
    ['of two that are skipped, the later counts', '20 2 * * *', '40 2 * * *', '2030-03-31T01:00:00Z', 'awake'],
  ])('and changes of the clock: %s', (...given) => {
    const [, sleep, wake, now, state] = given;
    const said = ask([{ sleep, wake, timeZone: 'Europe/Berlin' }], now);
    expect(said.split(' ')[0]).toBe(state);
  });

  test('are awake before they have fired for the first time in nine years', () => {
    expect(ask([{ sleep: '0 0 29 2 *', wake: '0 0 1 3 *' }], '2030-01-01T00:00:00Z')).toBe(
      'awake until 2032-02-29T00:00Z',
    );
    expect(ask([{ sleep: '0 0 29 2 *', wake: '0 0 1 4 *' }], '2032-03-01T00:00:00Z')).toBe(
      'asleep until 2032-04-01T00:00Z',
    );
  });

  test('are awake where sleep and wake come together', () => {
    const schedule = { sleep: '0 8,20 * * *', wake: '0 8 * * *' };
    expect(ask([schedule], '2030-01-01T08:00:00Z')).toBe('awake until 2030-01-01T20:00Z');
  });

  test('are always awake if sleep never comes alone', () => {
    expect(ask([{ sleep: '0 7 * * *', wake: '0 7 * * 0-6' }], '2030-01-01T12:00:00Z')).toMatch(/^awake/);
  });

  test('are asked again if sleep and wake come together too often to look further', () => {
    // It sleeps on the first day of each month.
    const schedule = { sleep: '* * * * *', wake: '* * 2-31 * *' };
    const now = at('2030-01-02T08:00:00Z');
    const { isAsleep, next, again } = scheduledSleep(read([schedule], now), now);
    expect([isAsleep, next]).toEqual([false, undefined]);
    expect(again).toBeGreaterThan(now);
    expect(again).toBeLessThan(at('2030-02-01T00:00:00Z'));
    expect(ask([schedule], '2030-01-31T23:30:00Z')).toBe('awake until 2030-02-01T00:00Z');
    expect(ask([schedule], '2030-02-01T00:00:00Z')).toBe('asleep until 2030-02-02T00:00Z');
  });

  test('answer in milliseconds, however often they fire', () => {
    const busy = { sleep: '* * * * *', wake: '*/2 * * * *' };
    const many = Array.from({ length: 8 }, (_, index) => ({
      ...busy,
      timeZone: index % 2 === 0 ? 'Europe/Berlin' : 'Asia/Tokyo',
    }));
    const now = at('2030-01-01T00:00:30Z');
    const schedules = read(many, now);
    expect(scheduledSleep(schedules, now)).toEqual({ isAsleep: false, next: at('2030-01-01T00:01:00Z') });
  });

  test.each([
    ['a sleep that never comes', { ...nights, sleep: '0 0 30 2 *' }, 'sleep', '"0 0 30 2 *" never comes'],
    ['a wake that never comes', { ...nights, wake: '0 0 31 4 *' }, 'wake', '"0 0 31 4 *" never comes'],
    ['no cron expression', { ...nights, sleep: 'at night' }, 'sleep', '"at night" is not a cron expression: '],
    ['six fields', { ...nights, wake: '0 0 7 * * *' }, 'wake', '"0 0 7 * * *" is not a cron expression: '],
    ['no time zone', { ...nights, timeZone: 'Europe/Atlantis' }, 'timeZone', '"Europe/Atlantis" is not a time zone'],
  ])('are refused with %s', (_name, schedule, field, reason) => {
    const found = readSchedule(schedule, at('2030-01-01T00:00:00Z'));
    expect('reason' in found ? [found.field, found.reason.slice(0, reason.length)] : []).toEqual([field, reason]);
  });

  test('with any text are read or refused, and nothing else', () => {
    fc.assert(
      fc.property(
        fc.string({ maxLength: 20 }),
        fc.string({ maxLength: 20 }),
        fc.string({ maxLength: 10 }),
        (sleep, wake, timeZone) => {
          const found = readSchedule({ sleep, wake, timeZone }, at('2030-01-01T00:00:00Z'));
          expect('reason' in found ? found.reason : 'read').not.toBe('');
        },
      ),
    );
  });
});

/** A field of a cron expression, and the values that it means. */
interface Part {
  readonly text: string;
  readonly has: (value: number) => boolean;
}

const every: Part = { text: '*', has: () => true };

/** Lists, ranges and steps between two bounds. */
function part(from: number, to: number): fc.Arbitrary<Part> {
  const number = fc.integer({ min: from, max: to });
  return fc.oneof(
    fc.constant(every),
    fc.uniqueArray(number, { minLength: 1, maxLength: 3 }).map((values) => ({
      text: values.join(','),
      has: (value: number) => values.includes(value),
    })),
    fc.tuple(number, number).map(([a, b]) => {
      const [low, high] = [Math.min(a, b), Math.max(a, b)];
      return { text: `${low}-${high}`, has: (value: number) => value >= low && value <= high };
    }),
    fc.integer({ min: 2, max: to - from }).map((step) => ({
      text: `*/${step}`,
      has: (value: number) => (value - from) % step === 0,
    })),
  );
}

interface Cron {
  readonly text: string;
  /** Whether it fires at a time of the clock on the wall, in whole minutes. */
  readonly fires: (time: number) => boolean;
}

const minutes = part(0, 59).filter(({ text }) => text !== '*');

const cron: fc.Arbitrary<Cron> = fc
  .record({
    minute: minutes,
    // Clocks are turned in these.
    hour: fc.oneof(part(0, 23), part(0, 4)),
    day: part(1, 31),
    month: fc.oneof({ weight: 4, arbitrary: fc.constant(every) }, { weight: 1, arbitrary: part(1, 12) }),
    weekday: part(0, 6),
    given: fc.constantFrom('day', 'weekday', 'both', 'none', 'none', 'none'),
  })
  .map(({ minute, hour, day: days, month, weekday: weekdays, given }) => {
    const day = given === 'day' || given === 'both' ? days : every;
    const weekday = given === 'weekday' || given === 'both' ? weekdays : every;
    const isDay = (date: Date): boolean => {
      const [one, other] = [day.has(date.getUTCDate()), weekday.has(date.getUTCDay())];
      return day.text === '*' || weekday.text === '*' ? one && other : one || other;
    };
    return {
      text: [minute, hour, day, month, weekday].map(({ text }) => text).join(' '),
      fires: (time: number) => {
        const date = new Date(time);
        const isTime = minute.has(date.getUTCMinutes()) && hour.has(date.getUTCHours());
        return isTime && month.has(date.getUTCMonth() + 1) && isDay(date);
      },
    };
  });

const zones = [
  'Etc/UTC',
  'Europe/Berlin',
  'America/New_York',
  'Australia/Lord_Howe',
  'Asia/Kathmandu',
  'America/St_Johns',
  'Antarctica/Troll',
];

/** The clocks of some of these zones are turned within two days. */
const beginnings = ['2030-03-09', '2030-03-30', '2030-04-06', '2030-10-05', '2030-10-26', '2030-11-02'];

/** The clock on the wall, to be looked at minute by minute, and what a schedule has said so far. */
class Watcher {
  readonly #fires: readonly [Cron, Cron];
  readonly #zone: Intl.DateTimeFormat;
  #offset = 0;
  #highest: number;
  slept: boolean;

  constructor(
    fires: readonly [Cron, Cron],
    timeZone: string,
    begin: { readonly moment: number; readonly slept: boolean },
  ) {
    const format = { year: 'numeric', month: '2-digit', day: '2-digit', hour: '2-digit', minute: '2-digit' } as const;
    this.#fires = fires;
    this.#zone = new Intl.DateTimeFormat('sv-SE', { timeZone, hourCycle: 'h23', ...format });
    this.#highest = this.#shown(begin.moment);
    this.slept = begin.slept;
  }

  look(moment: number): void {
    const time = this.#shown(moment);
    const [sleep, wake] = this.#fires;
    for (let next = this.#highest + minuteMs; next <= time; next += minuteMs) {
      if (sleep.fires(next)) this.slept = true;
      if (wake.fires(next)) this.slept = false;
    }
    this.#highest = Math.max(this.#highest, time);
  }

  #shown(moment: number): number {
    // Clocks are turned at a quarter of an hour.
    if (this.#offset === 0 || moment % (15 * minuteMs) === 0) {
      this.#offset = at(`${this.#zone.format(moment).replace(' ', 'T')}:00Z`) - moment;
    }
    return moment + this.#offset;
  }
}

function readableOf(spec: SleepSchedule, begin: number): readonly ReadSchedule[] {
  const found = readSchedule(spec, begin);
  return 'reason' in found ? [] : [found];
}

/** Asks for each minute, and again when a change was foretold; throws if the simulation says something else. */
function compare(
  schedules: readonly { readonly sleep: Cron; readonly wake: Cron; readonly timeZone: string }[],
  begin: number,
  days: number,
): void {
  const specs = schedules.map(({ sleep, wake, timeZone }) => ({ sleep: sleep.text, wake: wake.text, timeZone }));
  const readable = specs.flatMap((spec) => readableOf(spec, begin));
  fc.pre(readable.length === specs.length);
  const watchers = schedules.map(({ sleep, wake, timeZone }, index) => {
    const { isAsleep: slept } = scheduledSleep(readable.slice(index, index + 1), begin);
    return new Watcher([sleep, wake], timeZone, { moment: begin, slept });
  });
  let { isAsleep, next, again } = scheduledSleep(readable, begin);
  for (let moment = begin + minuteMs; moment < begin + days * 24 * 60 * minuteMs; moment += minuteMs) {
    for (const watcher of watchers) watcher.look(moment);
    const expected = watchers.some(({ slept }) => slept);
    if ((next ?? again ?? Infinity) <= moment) ({ isAsleep, next, again } = scheduledSleep(readable, moment));
    const said = moment % (97 * minuteMs) === 0 ? scheduledSleep(readable, moment).isAsleep : isAsleep;
    if (said === expected && isAsleep === expected) continue;
    throw new Error(`${JSON.stringify(specs)} at ${new Date(moment).toISOString()}: ${said ? 'asleep' : 'awake'}`);
  }
}

const schedule = fc.record({ sleep: cron, wake: cron, timeZone: fc.constantFrom(...zones) });

describe('The state by schedules is what a simulation minute by minute says, and changes when that was foretold,', () => {
  test.each([
    ['around changes of the clock', 2, 25],
    ['over weeks', 21, 2],
  ])('%s', (_name, days, numRuns) => {
    const given = [fc.array(schedule, { minLength: 1, maxLength: 3 }), fc.constantFrom(...beginnings)] as const;
    fc.assert(
      fc.property(...given, (schedules, from) => {
        compare(schedules, at(`${from}T12:00:00Z`), days);
      }),
      { numRuns },
    );
  });
});
