interface Failure {
  readonly message?: unknown;
  readonly code?: unknown;
  readonly errors?: unknown;
}

const asFailure = (error: unknown): Failure | undefined =>
  typeof error === 'object' && error !== null ? error : undefined;

/** The machine-readable code of a system, TLS or HTTP failure, e.g. `ECONNREFUSED`. */
export function failureCode(error: unknown): string | undefined {
  const code = asFailure(error)?.code;
  return typeof code === 'string' ? code : undefined;
}

/** A failure in one line for a person: its message, or that of the first of several, and its code unless the text has it. */
export function describeFailure(error: unknown): string {
  const failure = asFailure(error);
  if (failure === undefined) return String(error);
  const [first] = Array.isArray(failure.errors) ? (failure.errors as unknown[]) : [];
  const text = typeof failure.message === 'string' && failure.message !== '' ? failure.message : undefined;
  const message = text ?? (first === undefined ? 'no message' : describeFailure(first));
  const code = failureCode(error);
  return code === undefined || message.includes(code) ? message : `${message} (${code})`;
}
