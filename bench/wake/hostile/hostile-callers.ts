import { setTimeout as pause } from 'node:timers/promises';

import { hostileHello } from '../../../testing/builders/hostile-hello.ts';
import type { HostileKind } from '../../../testing/builders/hostile-hello.ts';
import { CpuBudget } from '../../flood/cpu-budget.ts';
import { sayHello } from './say-hello.ts';
import type { HelloFate, HelloTarget } from './say-hello.ts';

/** What the process of the hostile callers is asked to do, once. */
export interface HelloOrder {
  readonly targets: readonly HelloTarget[];
  readonly hellos: number;
  readonly perSecond: number;
}

/** What it answers. */
export interface HelloOutcome {
  /** By the clock, in milliseconds. */
  readonly endedAt: number;
  readonly hellos: Readonly<Partial<Record<HostileKind, number>>>;
  readonly fates: Readonly<Partial<Record<HelloFate, number>>>;
  readonly cpuPercent: number;
}

/** Connections that are open at once, fewer than the activator accepts for one tenant. */
const mostOpen = 400;

async function sayAll({ targets, hellos, perSecond }: HelloOrder): Promise<HelloOutcome> {
  const budget = new CpuBudget();
  const kinds: Partial<Record<HostileKind, number>> = {};
  const fates: Partial<Record<HelloFate, number>> = {};
  const open = new Set<Promise<void>>();
  const began = performance.now();
  for (let index = 0; index < hellos; index += 1) {
    const target = targets[index % targets.length];
    if (target === undefined) throw new Error('Nobody is there to say hello to.');
    const early = began + (index * 1000) / perSecond - performance.now();
    if (early > 0) await pause(early);
    while (open.size >= mostOpen) await Promise.race(open);
    const hello = hostileHello(index);
    kinds[hello.kind] = (kinds[hello.kind] ?? 0) + 1;
    const said = sayHello(target, hello).then((fate) => {
      fates[fate] = (fates[fate] ?? 0) + 1;
      open.delete(said);
    });
    open.add(said);
  }
  await Promise.all(open);
  return { endedAt: Date.now(), hellos: kinds, fates, cpuPercent: budget.percent };
}

process.on('message', (order: HelloOrder) => {
  sayAll(order).then(
    (outcome) => process.send?.(outcome),
    (error: unknown) => {
      console.error(error);
      process.exit(1);
    },
  );
});
// Nobody wants to know what it finds out anymore.
process.on('disconnect', () => process.exit(0));
