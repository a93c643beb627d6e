import { expect } from '@jest/globals';

import type { Seen } from './under-load.ts';

/** None failed, nothing is stale, no change was kept from a watch. */
export function expectUnharmed({ load, servers, watches }: Seen): void {
  expect({
    writes: load.failedWrites,
    reads: load.failedReads,
    version: servers.failed,
    stale: load.staleReads,
    missed: watches.flatMap(({ missed }) => missed),
    relists: watches.reduce((total, { relists }) => total + relists, 0),
  }).toEqual({ writes: [], reads: [], version: [], stale: 0, missed: [], relists: 0 });
}
