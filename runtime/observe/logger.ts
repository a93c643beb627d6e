/** Fields of a log line; errors are serialized by the logger, secrets are redacted by key. */
export type LogFields = Readonly<Record<string, unknown>>;

/** The one logging interface. No other code depends on the library behind it. */
export interface Logger {
  debug(message: string, fields?: LogFields): void;
  info(message: string, fields?: LogFields): void;
  warn(message: string, fields?: LogFields): void;
  error(message: string, fields?: LogFields & { readonly error?: unknown }): void;
  /** The same logger with more fields. */
  with(fields: LogFields): Logger;
}

/** Logs nothing: for tests, and for callers without a logger. */
export const silent: Logger = {
  debug: () => undefined,
  info: () => undefined,
  warn: () => undefined,
  error: () => undefined,
  with: () => silent,
};
