import type { Node } from '../../../api/core/kinds.ts';
import { numberOf } from '../../../api/quantity.ts';

/**
 * So many control planes start at once for each processor: a start also waits, for images, leases and probes. With fewer, a burst takes
 * longer as a whole; with more, nearly all of it becomes ready at its end.
 */
const perProcessor = 2;

/** At least so many. */
const fewest = 2;

/** The processors of a node that pods are scheduled to. */
export function processorsOf({ spec, status }: Node): number {
  return spec?.unschedulable === true ? 0 : (numberOf(status?.allocatable?.cpu ?? 0) ?? 0);
}

/** How many control planes should start at once on a cluster with so many processors; as many as there are where none is known. */
export function startLimit(processors: number): number {
  return processors === 0 ? Infinity : Math.max(fewest, Math.ceil(processors * perProcessor));
}
