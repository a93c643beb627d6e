/** Where a call of the product goes. */
export type Destination = 'management' | 'tenant' | 'datastore' | 'repository';

/** One call of a process of the product, before it is sent. */
export interface ProductCall {
  readonly to: Destination;
  readonly isWrite: boolean;
  /** For people, e.g. `apply Secret default/tenant-ca`. */
  readonly text: string;
  /** True for calls of the leader election and for Events: they are no part of an operation and are not counted. */
  readonly isAside: boolean;
}

/** Passes a call on, or does to it what a fault does. */
export type Pass = <T>(call: ProductCall, send: () => Promise<T>, signal?: AbortSignal) => Promise<T>;

/** A call with the process that made it. */
export interface MadeCall extends ProductCall {
  /** `manager`, or what the process of a Job does, e.g. `migration`. */
  readonly process: string;
}
