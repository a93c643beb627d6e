/**
 * The code of an error of the operating system or of Node (`ENOENT`), or undefined. Does not ask for `instanceof Error`:
 * test runners run files in another realm, where Node's own errors are no instances of the `Error` that the file sees.
 */
export const errorCode = (error: unknown): string | undefined =>
  typeof error === 'object' && error !== null && 'code' in error ? String(error.code) : undefined;
