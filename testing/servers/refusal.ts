import { ApiError } from '../../runtime/client/errors.ts';

/** The refusal that a call to a server ends with; throws when it ends otherwise. */
export async function refusal(work: Promise<unknown>): Promise<ApiError> {
  const error = await work.then(
    () => undefined,
    (reason: unknown) => reason,
  );
  if (error instanceof ApiError) return error;
  throw new Error('expected a refusal of the server', { cause: error });
}
