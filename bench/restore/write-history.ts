import { fork } from 'node:child_process';

import type { WritingOrder } from './writing-client.ts';
import type { HistoryWrite } from './written-history.ts';

/** A process that writes; disposing of it ends it. */
export interface HistoryOfWrites extends Disposable {
  /** Ends the writing and resolves with everything that was written. */
  end(): Promise<readonly HistoryWrite[]>;
}

/** Lets another process write, so that nothing that this one does delays a write; resolves when that has begun. */
export async function writeHistory(order: WritingOrder): Promise<HistoryOfWrites> {
  const child = fork(new URL('./writing-client.ts', import.meta.url));
  const begun = Promise.withResolvers<undefined>();
  const ended = Promise.withResolvers<readonly HistoryWrite[]>();
  // The error is thrown where the history is awaited.
  ended.promise.catch(() => undefined);
  const fail = (error: Error): void => {
    begun.reject(error);
    ended.reject(error);
  };
  child.on('message', (message: 'begun' | readonly HistoryWrite[]) => {
    if (message === 'begun') begun.resolve(undefined);
    else ended.resolve(message);
  });
  child.once('error', fail);
  child.once('exit', (code) => {
    fail(new Error(`The process that writes ended with code ${code ?? '?'}.`));
  });
  child.send(order);
  await begun.promise;
  return {
    end: () => {
      child.send('stop');
      return ended.promise;
    },
    [Symbol.dispose]: () => {
      if (child.connected) child.disconnect();
    },
  };
}
