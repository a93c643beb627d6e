/** A command cannot be carried out with these files; the message says how to fix it. */
export class StackError extends Error {
  override readonly name = 'StackError';
}
