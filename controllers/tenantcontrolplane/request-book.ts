import type { ObjectMemory } from '../../runtime/object-memory.ts';
import type { ObjectSlot } from '../../runtime/object-slot.ts';
import { noRequestsLeft } from './components/worker-bootstrap/requests-text.ts';
import type { RequestsLeft } from './components/worker-bootstrap/requests-text.ts';

/** How far a pass over a tenant's certificate requests has come. */
export interface RequestPass {
  /** Where the next page begins; absent at the beginning. */
  readonly from?: string;
  /** The version of the first page: what is newer has not been seen. */
  readonly resourceVersion?: string;
  /** Of the pages so far. */
  readonly left: RequestsLeft;
  /** True when one of them may fit later. */
  readonly mayFit: boolean;
}

const beginning: RequestPass = { left: noRequestsLeft, mayFit: false };

/** What one process remembers of its passes; losing it begins them again. */
export class RequestBook {
  readonly #passes: ObjectSlot<RequestPass>;

  constructor(memory: ObjectMemory) {
    this.#passes = memory.slot('passes over certificate requests');
  }

  /** The pass of a tenant under way, or the beginning of a new one. */
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
