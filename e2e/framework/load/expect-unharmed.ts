import { expect } from '@jest/globals';

import { boundsOf, loadShortfalls, tooFew, tooLong } from './load-shortfalls.ts';
import type { Seen } from './under-load.ts';

/** Each write is one event of each watch; those of one moment may be told as one. */
const eventsPerWrite = 0.5;

/** None failed, nothing is stale, no change was kept from a watch; and so many calls were made and answered soon that this says something. */
export function expectUnharmed({ load, servers, watches, asked }: Seen): void {
  const bounds = boundsOf(load);
  const { lastedMs } = load;
  const events = watches.map(({ events: count }, at) => ({
    what: `events of watch ${at}`,
    count,
    perSecond: (eventsPerWrite * load.writes * 1000) / lastedMs,
    lastedMs,
  }));
  const gaps = watches.map(({ longestGapMs }, at) => [`gap of watch ${at}`, longestGapMs] as const);
  expect({
    writes: load.failedWrites,
    reads: load.failedReads,
    version: servers.failed,
    stale: load.staleReads,
    missed: watches.flatMap(({ missed }) => missed),
    relists: watches.reduce((total, { relists }) => total + relists, 0),
    shortfalls: [
      ...loadShortfalls(load),
      ...tooFew(
        [{ what: 'calls of /version', count: servers.calls, perSecond: asked.versionsPerSecond, lastedMs }, ...events],
        bounds,
      ),
      ...tooLong({ 'slowest call of /version': servers.slowestMs, ...Object.fromEntries(gaps) }, bounds),
    ],
    watches: watches.length,
  }).toEqual({
    writes: [],
    reads: [],
    version: [],
    stale: 0,
    missed: [],
    relists: 0,
    shortfalls: [],
    watches: asked.watches,
  });
}
