import { StoreError } from './store-error.ts';

/** The error of a write that was refused because the writes of its connection were ended, or never begun. */
export function endedWritesError(where: string, cause?: unknown): StoreError {
  const why = 'another process writes there now, or the writes of this one were ended';
  return new StoreError('Failed', `nothing was written to ${where}: ${why}`, { cause });
}
