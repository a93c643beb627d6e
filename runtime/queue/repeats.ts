import { ApiError } from '../client/errors.ts';

/**
 * Repeats a request that a server elsewhere refused or did not answer. True if the answer is different now, so that a
 * reconcile makes sense.
 */
export type Repeat = (signal: AbortSignal) => Promise<boolean>;

const repeats = new WeakMap<object, Repeat>();

/** Runs a request to a server elsewhere; its failure can be repeated alone, without a reconcile. */
export async function repeatable<T>(request: (signal?: AbortSignal) => Promise<T>): Promise<T> {
  try {
    return await request();
  } catch (error) {
    const before = signatureOf(error);
    if (typeof error === 'object' && error !== null) {
      repeats.set(error, async (signal) => {
        try {
          await request(signal);
          return true;
        } catch (again) {
          return signatureOf(again) !== before;
        }
      });
    }
    throw error;
  }
}

/** What is waited for, as an error whose `check` says whether it may be over, without a reconcile. */
export function recheckable(message: string, check: Repeat): Error {
  const error = new Error(message);
  repeats.set(error, check);
  return error;
}

/**
 * How to see whether what an error reports still holds, one for each failed request. Empty when anything in the error is not such
 * a failure: then only a reconcile can find out.
 */
export function repeatsOf(error: unknown): readonly Repeat[] {
  if (error instanceof AggregateError) {
    const each = error.errors.map(repeatsOf);
    return each.some((some) => some.length === 0) ? [] : each.flat();
  }
  if (!(error instanceof Error)) return [];
  const own = repeats.get(error);
  if (own !== undefined) return [own];
  return error.cause === undefined ? [] : repeatsOf(error.cause);
}

/** Connection errors have a different text each time; answers are compared by their code. */
function signatureOf(error: unknown): string {
  return error instanceof ApiError ? String(error.code) : 'no answer';
}
