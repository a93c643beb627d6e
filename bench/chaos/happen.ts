import { setTimeout as pause } from 'node:timers/promises';

import type { FaultyApi } from './faulty-api.ts';
import type { PlannedFault } from './fault-plan.ts';
import type { Managers } from './managers.ts';

/** What faults happen to. */
export interface Targets {
  readonly managers: Managers;
  readonly api: FaultyApi;
  readonly store: { kill(): Promise<void>; restart(): Promise<void> };
}

/** Lets one fault begin, and ends it. */
export async function happen({ kind, lasts, manager = 0 }: PlannedFault, targets: Targets): Promise<void> {
  const { managers, api, store } = targets;
  const lasting = (): Promise<void> => pause(lasts * 1000);
  switch (kind) {
    case 'killed':
      await managers.kill(manager);
      await lasting();
      managers.start(manager);
      break;
    case 'hung':
      managers.hang(manager);
      await lasting();
      managers.resume(manager);
      break;
    case 'partitioned':
      managers.partition(manager);
      await lasting();
      managers.unite(manager);
      break;
    case 'throttled':
    case 'expired':
      api.begin(kind);
      await lasting();
      api.end(kind);
      break;
    case 'store restarted':
      await store.kill();
      await lasting();
      await store.restart();
      break;
  }
}
