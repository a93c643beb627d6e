import { KubernetesClient } from '../../e2e/cluster/kubernetes-client.ts';
import { TenantLoad } from '../../e2e/framework/load/tenant-load.ts';
import type { LoadReport } from '../../e2e/framework/load/tenant-load.ts';

/** Calls a second of one group of users: a fifth writes, a fifth reads over new connections, the others read over a kept one. */
const largestGroup = 30;

/** What the users of a control plane have seen in one phase. */
export interface CallsSeen {
  readonly seconds: number;
  readonly calls: number;
  readonly failed: readonly string[];
  /** Writes that were acknowledged and were not there in the end. */
  readonly lost: readonly string[];
  readonly staleReads: number;
  readonly slowestCallMs: number;
  readonly longestPauseMs: number;
  /** The slowest call in the same time to the API server of the management cluster, which is not scaled. */
  readonly slowestFloorMs: number;
}

/** Calls a control plane so many times a second, in a namespace for each group of users, while `work` is done. */
export async function callsDuring(
  users: { readonly kubeconfig: string; readonly floor: KubernetesClient; readonly callsPerSecond: number },
  work: () => Promise<void>,
): Promise<CallsSeen> {
  const { kubeconfig, floor, callsPerSecond } = users;
  const groups = Math.ceil(callsPerSecond / largestGroup);
  const perGroup = callsPerSecond / groups;
  const newcomer = (): KubernetesClient => new KubernetesClient(kubeconfig);
  const client = newcomer();
  await using disposables = new AsyncDisposableStack();
  const loads: TenantLoad[] = [];
  for (let at = 0; at < groups; at += 1) {
    const namespace = `callers-${callsPerSecond}-${at}`;
    await client.apply([{ apiVersion: 'v1', kind: 'Namespace', metadata: { name: namespace } }]);
    const load = new TenantLoad(newcomer(), {
      namespace,
      writesPerSecond: perGroup / 5,
      readsPerSecond: (3 * perGroup) / 5,
      newcomersPerSecond: perGroup / 5,
      registers: 2,
      newcomer,
      floor,
    });
    loads.push(disposables.use(load));
  }
  await Promise.all(loads.map((load) => load.start()));
  await work();
  const reports = await Promise.all(loads.map((load) => load.stop()));
  const lost = (await Promise.all(loads.map((load) => load.lost()))).flat();
  return { ...summary(reports), lost };
}

function summary(reports: readonly LoadReport[]): Omit<CallsSeen, 'lost'> {
  const sum = (of: (report: LoadReport) => number): number => reports.reduce((total, report) => total + of(report), 0);
  const most = (of: (report: LoadReport) => number): number => Math.max(0, ...reports.map(of));
  return {
    seconds: most(({ lastedMs }) => lastedMs) / 1000,
    calls: sum(({ writes, failedWrites, reads }) => writes + failedWrites.length + reads),
    failed: reports.flatMap(({ failedWrites, failedReads }) => [...failedWrites, ...failedReads]),
    staleReads: sum(({ staleReads }) => staleReads),
    slowestCallMs: most(({ slowestCallMs }) => slowestCallMs),
    longestPauseMs: most(({ longestPauseMs }) => longestPauseMs),
    slowestFloorMs: most(({ floor }) => floor.slowestMs),
  };
}
