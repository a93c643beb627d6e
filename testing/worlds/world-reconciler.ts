import { ObjectMemory } from '../../runtime/cache/object-memory.ts';
import type { Cluster } from '../../runtime/client/cluster.ts';
import type { Clock } from '../../runtime/clock.ts';
import type { Controller } from '../../runtime/reconcile/controller.ts';
import { Reconciler } from '../../runtime/reconcile/reconciler.ts';

/** What the reconciles of a world work with. */
export interface WorldReconcilerOptions {
  readonly cluster: Cluster;
  readonly clock: Clock;
  /** Gets each Event as `Reason: message`. */
  readonly events: string[];
}

/** The reconciles of a controller whose process has just started and is never stopped. */
export function worldReconciler(
  controller: Controller,
  { cluster, clock, events }: WorldReconcilerOptions,
): Reconciler {
  return new Reconciler({
    memory: new ObjectMemory(),
    controller,
    cluster,
    clock,
    events: { record: (_object, { reason, message }) => void events.push(`${reason}: ${message}`) },
    stop: new AbortController().signal,
    wrote: () => undefined,
  });
}
