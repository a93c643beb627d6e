/** The source answered, but does not have this release, or no longer has this digest. */
export class ReleaseNotFoundError extends Error {
  override readonly name = 'ReleaseNotFoundError';
}

/** The source cannot be read now: it is unreachable, slow, or refuses the credentials. The same call may succeed later. */
export class SourceUnavailableError extends Error {
  override readonly name = 'SourceUnavailableError';
  /** How long to wait before a retry, if the source says so. */
  readonly retryAfterMs: number | undefined;

  constructor(message: string, options?: ErrorOptions & { readonly retryAfterMs?: number }) {
    super(message, options);
    this.retryAfterMs = options?.retryAfterMs;
  }
}

/** The content is not a valid release, or does not match its digest. Only other content or another source helps, not a retry. */
export class BadReleaseError extends Error {
  override readonly name = 'BadReleaseError';
}
