import { clusterStackGroup } from '../clusterstacks/api/names.ts';
import type { Controller } from '../runtime/reconcile/controller.ts';

/**
 * The same controller, which pauses its objects as long as `why` returns a reason: no reconcile, no finalizer, no status. Objects of the
 * layer of cluster stacks get an Event that says why; others, such as Clusters, get none.
 */
export function restingController(controller: Controller, why: () => string | undefined): Controller {
  if (controller.kind.group !== clusterStackGroup) {
    return { ...controller, serves: (object) => why() === undefined && (controller.serves?.(object) ?? true) };
  }
  return { ...controller, paused: (object) => why() ?? controller.paused?.(object) };
}
