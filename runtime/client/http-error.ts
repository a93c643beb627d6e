/** A request that is refused with this status code. The message goes to the caller. */
export class HttpError extends Error {
  override readonly name = 'HttpError';
  readonly code: number;
  constructor(code: number, message: string) {
    super(message);
    this.code = code;
  }
}
