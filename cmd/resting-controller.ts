import { clusterStackGroup } from '../api/clusterstack/names.ts';
import type { Controller } from '../runtime/controller.ts';

/**
 * The same controller, whose objects rest as long as `why` tells a reason: no visit, no finalizer, no status. Objects of the layer of cluster stacks get
 * an Event that says why; others, such as Clusters, are left in peace.
 */
export function restingController(controller: Controller, why: () => string | undefined): Controller {
  if (controller.kind.group !== clusterStackGroup) {
    return { ...controller, serves: (object) => why() === undefined && (controller.serves?.(object) ?? true) };
  }
  return { ...controller, paused: (object) => why() ?? controller.paused?.(object) };
}
