const messageOf = (error: unknown): string =>
  typeof error === 'object' && error !== null && 'message' in error ? String(error.message) : String(error);

/** What an error says, for a sentence that goes on; a wrapped error's cause says more than its wrapping. */
export const errorReason = (error: unknown): string =>
  typeof error === 'object' && error !== null && 'cause' in error && error.cause !== undefined
    ? messageOf(error.cause)
    : messageOf(error);
