import type { Condition, Resource } from '../../api/meta.ts';
import { priorityStep } from './queue.ts';

/** Why a key is added: an object was edited, something else happened, or the manager has just started. */
export type Occasion = 'edit' | 'usual' | 'startUp';

const least: Readonly<Record<Occasion, number>> = { edit: priorityStep, usual: 0, startUp: -priorityStep };

/**
 * Edits go first, and take turns with objects that are not Ready; what a start finds goes last. Among the others, an object that is not Ready goes before one that is, and the one with
 * the most conditions that are True first: it is nearest to Ready, so that few objects are ready early instead of all of them late.
 */
export function priorityOf(object: Resource | undefined, occasion: Occasion): number {
  if (occasion === 'edit') return least.edit;
  return least[occasion] + (object === undefined ? 0 : nearness(object));
}

/** From 0, for an object that is Ready, to 99. */
function nearness(object: Resource): number {
  const met = conditionsOf(object).filter(({ status }) => status === 'True');
  if (met.some(({ type }) => type === 'Ready')) return 0;
  return Math.min(1 + met.length, priorityStep - 1);
}

function conditionsOf(object: Resource): readonly Condition[] {
  const status: unknown = 'status' in object ? object.status : undefined;
  if (typeof status !== 'object' || status === null || !('conditions' in status)) return [];
  return Array.isArray(status.conditions) ? (status.conditions as readonly Condition[]) : [];
}
