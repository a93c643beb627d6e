import { StoreError } from '../store-error.ts';

/** What a call that is not written yet answers, by its name. */
export function notImplemented(call: string): Promise<never> {
  return Promise.reject(new StoreError('Failed', `driver CockroachDB: ${call} is not implemented`));
}
