/** A request was not sent, or the server says that it has not begun to process it: it can be sent again, whatever it is. */
export class UnprocessedError extends Error {
  override readonly name = 'UnprocessedError';
}
