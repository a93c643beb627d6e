/** What was asked for cannot be done with these files; the message says what would help. */
export class StackError extends Error {
  override readonly name = 'StackError';
}
