import type { ObjectMemory } from '../../../../runtime/cache/object-memory.ts';
import type { ObjectSlot } from '../../../../runtime/cache/object-slot.ts';

/** Requests of workers that were left alone, as they are reported. */
export interface RequestsLeft {
  readonly count: number;
  /** The first of them, by name. */
  readonly first: readonly { readonly name: string; readonly why: string }[];
}

/** None. */
export const noRequestsLeft: RequestsLeft = { count: 0, first: [] };

/** How far a pass over a tenant's certificate requests has come. */
export interface RequestPass {
  /** Where the next page begins; absent at the beginning. */
  readonly from?: string;
  /** The resource version of the first page: newer requests have not been seen. */
  readonly resourceVersion?: string;
  /** The requests left alone on the pages so far. */
  readonly left: RequestsLeft;
  /** True when one of them may fit later. */
  readonly mayFit: boolean;
}

const beginning: RequestPass = { left: noRequestsLeft, mayFit: false };

/** The passes that this process remembers; if they are lost, they start over. */
export class RequestBook {
  readonly #passes: ObjectSlot<RequestPass>;

  constructor(memory: ObjectMemory) {
    this.#passes = memory.slot('passes over certificate requests');
  }

  /** The current pass of a tenant, or a new one. */
  of(uid: string): RequestPass {
    return this.#passes.get(uid) ?? beginning;
  }

  remember(uid: string, pass: RequestPass): void {
    this.#passes.set(uid, pass);
  }

  /** The pass is over. */
  forget(uid: string): void {
    this.#passes.delete(uid);
  }
}

/** How many are reported by name: a tenant can create any number of requests. */
const mostTold = 3;

/** One more that is left alone. */
export function withRequest(left: RequestsLeft, name: string, why: string): RequestsLeft {
  return {
    count: left.count + 1,
    first: left.first.length < mostTold ? [...left.first, { name, why }] : left.first,
  };
}

/** The requests that were left alone, the reasons and what to do; empty when there are none. */
export function requestsText({ count, first }: RequestsLeft): string {
  if (count === 0) return '';
  const told = first.map(({ name, why }) => `${name} ${why}`);
  const others = count > first.length ? [`${count - first.length} more`] : [];
  const remedy = 'review them, then approve or deny them with kubectl certificate';
  return `certificate requests of the tenant were not approved: ${[...told, ...others].join('; ')}: ${remedy}`;
}
