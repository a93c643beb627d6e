import { isAsleep } from '../../../api/steward/v1alpha1/sleep/is-asleep.ts';
import type { Observed, Scope } from '../scope.ts';
import { afterIdleMs } from '../sleep/use/idle-sleep.ts';

/** How the use of a tenant is read from now on. */
export type MeteredUse =
  | {
      readonly afterIdleMs: number;
      /** Changes when there may be other pods. */
      readonly version: string;
      /** What an earlier manager has recorded while it was idle. */
      readonly recorded: { readonly since: Date; readonly counters: string } | undefined;
    }
  | 'stop'
  | 'unchanged';

/** What a reconcile knows of it. */
export interface MeteredScope extends Pick<Scope, 'tcp' | 'tenantPrepared' | 'deployment'> {
  readonly observed: Pick<Observed, 'deployment'>;
}

/**
 * Whether the use of a tenant is read: while its spec has `afterIdle` and it is awake, from the moment at which it has all that its users
 * need.
 */
export function meteredUse({ tcp, tenantPrepared, deployment, observed }: MeteredScope): MeteredUse {
  const limitMs = afterIdleMs(tcp);
  if (limitMs === undefined || isAsleep(tcp)) return 'stop';
  if (tenantPrepared !== true) return 'unchanged';
  const { use } = tcp.status ?? {};
  const isRecorded = use?.state === 'Idle' && use.counters !== undefined;
  return {
    afterIdleMs: limitMs,
    version: (deployment ?? observed.deployment)?.metadata.resourceVersion ?? '',
    recorded: isRecorded ? { since: new Date(use.since), counters: use.counters } : undefined,
  };
}
