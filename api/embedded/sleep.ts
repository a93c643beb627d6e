import type { Infer } from '../schema.ts';
import { described, list, obj, oneOf, opt, ruled, setOf, str } from '../schema.ts';

const cron = (text: string) => described(str({ minLength: 1, maxLength: 100 }), text);

const sleepSchedule = obj(
  {
    sleep: cron('When it falls asleep, as a cron expression with five fields, such as `0 20 * * *`.'),
    wake: cron('When it wakes up, as a cron expression with five fields, such as `0 7 * * *`.'),
    timeZone: opt(
      described(
        str({ pattern: '^[A-Za-z0-9_+-]+(/[A-Za-z0-9_+-]+)*$', maxLength: 64 }),
        'Time zone of both, such as `Europe/Berlin`. Defaults to `Etc/UTC`.',
      ),
    ),
  },
  { rule: 'self.sleep != self.wake', message: 'sleep and wake must be different times' },
);
/** A time in which a control plane sleeps, again and again. */
export type SleepSchedule = Infer<typeof sleepSchedule>;

const afterIdle = ruled(
  str({ pattern: '^([0-9]+(\\.[0-9]+)?(s|m|h))+$', maxLength: 20 }),
  {
    rule: "duration(self) >= duration('5m')",
    message: 'afterIdle must be at least 5m: use is read once a minute, or less often with several pods',
  },
  { rule: "duration(self) <= duration('720h')", message: 'afterIdle must be at most 720h' },
);

const wakeOn = ruled(setOf(oneOf('Request', 'NodeRequest', 'Schedule', 'Manual'), { minItems: 1, maxItems: 4 }), {
  rule: "!('NodeRequest' in self) || 'Request' in self",
  message: 'NodeRequest needs Request',
});

const sleepSpec = obj(
  {
    afterIdle: opt(
      described(
        afterIdle,
        'The control plane falls asleep when nobody has used it for this time, such as `30m`; from `5m` to `720h`. Requests of its own components, of nodes and of Steward are not use.',
      ),
    ),
    schedules: opt(
      described(
        list(sleepSchedule, { minItems: 1, maxItems: 8 }),
        'When the control plane sleeps. With several, it sleeps while at least one of them says so.',
      ),
    ),
    wakeOn: opt(
      described(
        wakeOn,
        'What wakes the control plane up. Request: a call of its endpoint, except by its nodes; needs the activator. NodeRequest: also a call by them. Schedule: `wake` of its schedules; without it, `wake` only ends the time to sleep, and the control plane sleeps on until something else wakes it up. Manual: a person; this always works, whether or not it is listed. Defaults to Schedule and Manual.',
      ),
    ),
  },
  { rule: 'has(self.schedules) || has(self.afterIdle)', message: 'sleep needs schedules or afterIdle' },
);

/** When a control plane sleeps. */
export type SleepSpec = Infer<typeof sleepSpec>;

/** When a control plane sleeps, in the `spec` of both kinds. */
export const sleepFields = {
  sleep: opt(
    described(
      sleepSpec,
      'When the control plane sleeps: no pods run, and the data stays. The number of replicas is not changed.',
    ),
  ),
} as const;
