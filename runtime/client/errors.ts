/** Only a change of the spec can help: the reconcile is not repeated. `reason` is a condition reason. */
export class TerminalError extends Error {
  override readonly name = 'TerminalError';
  readonly reason: string;
  constructor(reason: string, message: string, options?: ErrorOptions) {
    super(message, options);
    this.reason = reason;
  }
}

/** A known transient cause with its own pace. `reason` is a condition reason. */
export class RetryError extends Error {
  override readonly name = 'RetryError';
  readonly reason: string;
  readonly afterMs: number;
  constructor(reason: string, message: string, afterMs: number, options?: ErrorOptions) {
    super(message, options);
    this.reason = reason;
    this.afterMs = afterMs;
  }
}

/** What a server may add to a refusal. */
export interface RefusalDetails extends ErrorOptions {
  /** The delay that the server requested, in milliseconds. */
  readonly retryAfterMs?: number | undefined;
  /** Of a page whose version is too old: the token with which the list continues at the newest version. */
  readonly next?: string | undefined;
}

/** An API server's refusal: the fields of its `Status`. */
export class ApiError extends Error {
  override readonly name = 'ApiError';
  /** HTTP status, e.g. 404, 409, 410, 422. */
  readonly code: number;
  /** The machine-readable reason, e.g. `NotFound`, `AlreadyExists`, `Conflict`, `Invalid`. */
  readonly reason: string;
  readonly retryAfterMs: number | undefined;
  readonly next: string | undefined;
  constructor(code: number, reason: string, message: string, { retryAfterMs, next, ...options }: RefusalDetails = {}) {
    super(message, options);
    this.code = code;
    this.reason = reason;
    this.retryAfterMs = retryAfterMs;
    this.next = next;
  }
}

/** No answer: connection refused, lost, timed out, or a TLS failure. The cause is kept. */
export class UnreachableError extends Error {
  override readonly name = 'UnreachableError';
}
