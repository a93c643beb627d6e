import type { commonReasons } from '../conditions.ts';
import { healthy, passing, toDo } from './remedy.ts';
import type { Remedy } from './remedy.ts';

/** What to do about the reasons that any condition may have. */
export const commonRemedies = {
  Succeeded: healthy,
  Blocked: passing('Look at the condition that the message names: this one depends on it.'),
  Failed: toDo(
    'Do what the message says. If it names an API call, the manager may lack a permission or the other server may be broken: its log says more. It is tried again with back-off.',
    'kubectl -n steward-system logs -l app.kubernetes.io/name=steward --tail=200',
  ),
  Unreachable: toDo(
    'Make the server in the message reachable from the manager: check that it runs, its name in DNS, and NetworkPolicies and firewalls between the two. It is tried again with back-off.',
  ),
  NotReported: passing(
    'Wait for the first reconcile. If it does not come, check that a manager runs and watches the namespace.',
    'kubectl -n steward-system get pods,leases',
  ),
  InvalidSpec: toDo('Correct the field that the message names. It is tried again when the spec changes.'),
} as const satisfies Readonly<Record<keyof typeof commonReasons, Remedy>>;
