import type { Infer } from '../../../schema.ts';
import { described, int32, int64, obj, oneOf, opt, time } from '../../../schema.ts';

/** Whether a control plane sleeps. It is computed from the spec, annotations, calls and the time, and recorded here. */
export const sleepStatus = obj({
  state: described(oneOf('Awake', 'Asleep'), 'Whether pods are wanted.'),
  since: described(time(), 'Time from which the state is in force.'),
  reason: described(
    oneOf('Schedule', 'Use', 'Manual', 'Request'),
    'What decided. Schedule: `spec.sleep.schedules`. Use: `spec.sleep.afterIdle`. Manual: an annotation, or 0 replicas. Request: a call, because of `spec.sleep.wakeOn`, at a time of its schedules to sleep.',
  ),
  nextTransitionTime: opt(
    described(
      time(),
      'Time at which the state changes next. Absent if that is not known: if only a call or a person changes it, or if schedules fire too often to look so far ahead.',
    ),
  ),
  firstReadyTime: opt(
    described(time(), 'Time at which the control plane was first seen Ready. Before that, it is not put to sleep.'),
  ),
  requestTime: opt(
    described(time(), 'Time of the call that keeps it awake, although its schedules say that it sleeps.'),
  ),
  port: opt(
    described(int32(), 'Port of the activator at which calls arrive while it sleeps, because of `spec.sleep.wakeOn`.'),
  ),
  ended: opt(
    described(
      obj({
        seconds: described(int64(), 'How long it slept in all of these times together.'),
        bySchedule: described(int64(), 'How often a schedule woke it up.'),
        byRequest: opt(described(int64(), 'How often a call woke it up.')),
        byUpgrade: opt(described(int64(), 'How often an upgrade of its Cluster woke it up.')),
        byPerson: described(int64(), 'How often a person woke it up, or what a person had requested ended.'),
      }),
      'The times in which it slept and that have ended, since `spec.sleep` or an annotation first had an effect.',
    ),
  ),
});
export type SleepStatus = Infer<typeof sleepStatus>;
