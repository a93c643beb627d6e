import { ApiError, TerminalError } from '../../../runtime/client/errors.ts';

/** The error that an answer of admission, or of the schema, to a TenantControlPlane means: only another spec helps. Undefined for others. */
export function refusalOf(error: unknown): TerminalError | undefined {
  const isRefusal =
    error instanceof ApiError && (error.code === 422 || (error.code === 403 && error.message.includes('admission')));
  return isRefusal
    ? new TerminalError('Refused', `the TenantControlPlane was refused: ${error.message}`, { cause: error })
    : undefined;
}
