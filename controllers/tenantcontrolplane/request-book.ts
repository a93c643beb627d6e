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
  readonly #passes = new Map<string, RequestPass>();

  /** The pass of a tenant under way, or the beginning of a new one. */
  of(uid: string): RequestPass {
    return this.#passes.get(uid) ?? beginning;
  }

  remember(uid: string, pass: RequestPass): void {
    this.#passes.set(uid, pass);
  }

  /** The pass is over, or the tenant is gone. */
  forget(uid: string): void {
    this.#passes.delete(uid);
  }
}
