import type { Infer } from '../../../schema.ts';
import { described, obj, oneOf, opt, str, time } from '../../../schema.ts';

/** Whether a control plane is used, as far as `spec.sleep.afterIdle` needs it. It is written when it changes, not with each request. */
export const useStatus = obj({
  state: described(
    oneOf('InUse', 'Idle', 'Unknown'),
    'InUse: used within the last minutes. Idle: not used since `since`. Unknown: it could not be read, so that the control plane is not put to sleep.',
  ),
  since: described(time(), 'Time from which the state is in force. While it is Idle, the time of the last use.'),
  counters: opt(
    described(
      str({ maxLength: 64 }),
      'Identifies the pods and their counters of requests while it is Idle. A manager that starts goes on from `since` only if it finds the same.',
    ),
  ),
});
export type UseStatus = Infer<typeof useStatus>;
