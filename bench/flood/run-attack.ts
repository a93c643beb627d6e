import { fork } from 'node:child_process';

import type { AttackOrder, AttackOutcome } from './hostile-client.ts';

/** Lets another process attack, so that what it does delays no call of this one. @throws Error when it ends before its answer. */
export async function runAttack(order: AttackOrder): Promise<AttackOutcome> {
  const child = fork(new URL('./hostile-client.ts', import.meta.url));
  const { promise, resolve, reject } = Promise.withResolvers<AttackOutcome>();
  child.once('message', (outcome: AttackOutcome) => {
    resolve(outcome);
  });
  child.once('error', reject);
  child.once('exit', (code) => {
    reject(new Error(`The client of the hostile tenant ended with code ${code ?? '?'} during "${order.attack}".`));
  });
  child.send(order);
  try {
    return await promise;
  } finally {
    if (child.connected) child.disconnect();
  }
}
