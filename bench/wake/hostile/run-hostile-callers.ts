import { fork } from 'node:child_process';

import type { HelloOrder, HelloOutcome } from './hostile-callers.ts';

/** Lets another process say the hellos, so that they delay no call of this one. @throws Error when it ends before its answer. */
export async function runHostileCallers(order: HelloOrder): Promise<HelloOutcome> {
  const child = fork(new URL('./hostile-callers.ts', import.meta.url));
  const { promise, resolve, reject } = Promise.withResolvers<HelloOutcome>();
  child.once('message', (outcome: HelloOutcome) => {
    resolve(outcome);
  });
  child.once('error', reject);
  child.once('exit', (code) => {
    reject(new Error(`The process of the hostile callers ended with code ${code ?? '?'}.`));
  });
  child.send(order);
  try {
    return await promise;
  } finally {
    if (child.connected) child.disconnect();
  }
}
