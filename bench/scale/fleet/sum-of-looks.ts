import type { ManagerLook } from './manager-metrics.ts';

type Counts = Readonly<Record<string, number>>;

/** Several managers at one time: what they did and used together, and the memory and the lag of the worst. */
export function sumOfLooks(looks: readonly ManagerLook[]): ManagerLook {
  const most = (value: (look: ManagerLook) => number): number => Math.max(...looks.map(value));
  const sum = (value: (look: ManagerLook) => number): number => looks.reduce((all, look) => all + value(look), 0);
  const counts = (value: (look: ManagerLook) => Counts): Counts =>
    looks.map(value).reduce((all, one) => {
      const added = Object.entries(one).map(([name, count]) => [name, (all[name] ?? 0) + count] as const);
      return { ...all, ...Object.fromEntries(added) };
    }, {});
  return {
    at: most(({ at }) => at),
    rssMiB: most(({ rssMiB }) => rssMiB),
    anonymousMiB: most(({ anonymousMiB }) => anonymousMiB),
    heapMiB: most(({ heapMiB }) => heapMiB),
    members: most(({ members }) => members),
    lagP99Ms: most(({ lagP99Ms }) => lagP99Ms),
    lagMaxMs: most(({ lagMaxMs }) => lagMaxMs),
    cpuSeconds: sum(({ cpuSeconds }) => cpuSeconds),
    reconciles: sum(({ reconciles }) => reconciles),
    busy: sum(({ busy }) => busy),
    managementRequests: counts(({ managementRequests }) => managementRequests),
    tenantCalls: counts(({ tenantCalls }) => tenantCalls),
  };
}
