import { setTimeout as pause } from 'node:timers/promises';

import { KubernetesClient } from '../../cluster/kubernetes-client.ts';
import { ServerWitness } from './server-witness.ts';
import type { ServerReport } from './server-witness.ts';
import { logStep } from '../log.ts';
import { TenantLoad } from './tenant-load.ts';
import type { LoadReport } from './tenant-load.ts';
import { WatchWitness } from './watch-witness.ts';
import type { WatchReport } from './watch-witness.ts';

/** How many watch, unless said. */
const usualWatchers = 4;

/** How often each of two asks for `/version`: over a connection that is kept, and over new ones. */
const versionsPerSecond = 15;

/** What users of a control plane have seen. */
export interface Seen {
  readonly load: LoadReport;
  readonly servers: ServerReport;
  readonly watches: readonly WatchReport[];
  /** How much of it was asked for. */
  readonly asked: { readonly watches: number; readonly versionsPerSecond: number };
}

/** Who uses which control plane. */
export interface Users {
  /** Begins each line that is printed. */
  readonly title: string;
  readonly kubeconfig: string;
  /** A client of the management cluster, see `LoadOptions`. */
  readonly floor: KubernetesClient;
  /** A call that fails is made once more after so many milliseconds, and only counts as failed when that fails, too. */
  readonly onceMoreAfterMs?: number | undefined;
  readonly watchers?: number;
}

/**
 * Uses a control plane while `work` is done, and three seconds before and after: some 80 calls a second over kept and new connections,
 * and watches. Prints what its users saw, and returns it. Fails when a write that was acknowledged is lost.
 */
export async function underLoad(users: Users, work: () => Promise<void>): Promise<Seen> {
  const { title, kubeconfig, floor, onceMoreAfterMs, watchers = usualWatchers } = users;
  const newcomer = (): KubernetesClient => new KubernetesClient(kubeconfig);
  await using load = new TenantLoad(newcomer(), {
    namespace: 'default',
    writesPerSecond: 30,
    readsPerSecond: 20,
    registers: 6,
    newcomersPerSecond: 4,
    newcomer,
    floor,
    onceMoreAfterMs,
  });
  await load.start();
  await using disposables = new AsyncDisposableStack();
  const witnesses = Array.from({ length: watchers }, () => disposables.use(new WatchWitness(newcomer(), 'default')));
  for (const witness of witnesses) await witness.start();
  const servers = disposables.use(
    new ServerWitness(newcomer(), newcomer, { callsPerSecond: versionsPerSecond, onceMoreAfterMs }),
  );
  const began = performance.now();
  await pause(3000);
  await work();
  await pause(3000);
  const lastedSeconds = (performance.now() - began) / 1000;
  const watches = Promise.all(witnesses.map((witness) => witness.stop()));
  const seen: Seen = {
    servers: await servers.stop(),
    load: await load.stop(),
    watches: await watches,
    asked: { watches: watchers, versionsPerSecond: 2 * versionsPerSecond },
  };
  print(title, seen, lastedSeconds);
  const lost = await load.lost();
  if (lost.length > 0) throw new Error(`${title}: writes that were acknowledged are lost: ${lost.join(', ')}`);
  return seen;
}

const seconds = (ms: number): string => `${(ms / 1000).toFixed(1)} s`;

function print(title: string, { load, servers, watches }: Seen, lasted: number): void {
  const calls = load.writes + load.failedWrites.length + load.reads + servers.calls;
  const onceMore = [...load.onceMore, ...servers.onceMore];
  const failures = [...load.failedWrites, ...load.failedReads, ...servers.failed];
  logStep(
    title,
    `${calls} calls in ${lasted.toFixed(0)} s, ${(calls / lasted).toFixed(0)} a second: ${load.writes} writes, ${load.reads} reads, ${servers.calls} of /version, half of those over new connections`,
  );
  logStep(
    title,
    `${failures.length} failed; ${onceMore.length} made once more; ${load.repeated} that the server wanted later; ${load.staleReads} stale; longest time without a write ${seconds(load.longestPauseMs)}, slowest call ${seconds(Math.max(load.slowestCallMs, servers.slowestMs))}`,
  );
  logStep(
    title,
    `the management cluster answered ${load.floor.calls} calls in the same time, the slowest after ${seconds(load.floor.slowestMs)}`,
  );
  for (const failure of new Set(failures)) logStep(title, failure);
  for (const failure of new Set(onceMore)) logStep(`${title}, once more`, failure);
  const sum = (of: (report: WatchReport) => number): number => watches.reduce((total, each) => total + of(each), 0);
  logStep(
    title,
    `${watches.length} watches: ${sum(({ interruptions }) => interruptions)} interruptions, ${sum(({ relists }) => relists)} lists again, longest gap ${seconds(Math.max(...watches.map(({ longestGapMs }) => longestGapMs)))}, ${sum(({ events }) => events)} events, ${sum(({ missed }) => missed.length)} missed`,
  );
  const answers = Object.entries(servers.answers).map(([version, count]) => `${version} ${count}`);
  logStep(
    title,
    `answered by ${answers.join(', ')}; by the old version after the new one: ${servers.answeredByOld} calls, for ${seconds(servers.mixedMs)}, of which ${servers.newcomersAnsweredByOld} over new connections`,
  );
}
