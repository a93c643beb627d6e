/** The source answers, and has no such release, or no such digest any more. */
export class ReleaseNotFoundError extends Error {
  override readonly name = 'ReleaseNotFoundError';
}

/** The source cannot be asked now: gone, slow, or it refuses who asks. The same call may succeed later. */
export class SourceUnavailableError extends Error {
  override readonly name = 'SourceUnavailableError';
  /** When asking again is worth it, where the source says so. */
  readonly retryAfterMs: number | undefined;

  constructor(message: string, options?: ErrorOptions & { readonly retryAfterMs?: number }) {
    super(message, options);
    this.retryAfterMs = options?.retryAfterMs;
  }
}

/** What the source gives is not what a release must be, or not what its digest says. Only other content, or another source, helps. */
export class BadReleaseError extends Error {
  override readonly name = 'BadReleaseError';
}
