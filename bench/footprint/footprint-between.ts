import type { ManagerSample } from './manager-process.ts';

/** What the manager used while so many tenants rested. */
export interface Footprint {
  readonly tenants: number;
  readonly rssMiB: number;
  readonly anonymousMiB: number;
  /** CPU seconds per second, in thousandths. */
  readonly milliCpu: number;
  /** Requests to API servers a second; undefined when the manager does not count them. */
  readonly requestsPerSecond: number | undefined;
  /** CPU seconds that each of the tenants which came last took to be made; undefined when none came. */
  readonly creationCpuSeconds: number | undefined;
}

/** Measures the manager before and after one step. */
export interface Looks {
  /** Tenants before and after the step. */
  readonly tenants: readonly [before: number, after: number];
  readonly atStart: ManagerSample;
  /** As soon as the new tenants were ready. */
  readonly created: ManagerSample;
  /** Between these two it only rested. */
  readonly rested: readonly [from: ManagerSample, to: ManagerSample];
}

/** The footprint after a step: memory at its end, rates while tenants rested, CPU time of the new tenants before. */
export function footprintBetween({ tenants, atStart, created, rested: [from, to] }: Looks): Footprint {
  const seconds = (to.at - from.at) / 1000;
  const total = ({ requests }: ManagerSample): number => Object.values(requests).reduce((sum, count) => sum + count, 0);
  const counts = Object.keys(to.requests).length > 0;
  const added = tenants[1] - tenants[0];
  return {
    tenants: tenants[1],
    rssMiB: to.rssMiB,
    anonymousMiB: to.anonymousMiB,
    milliCpu: ((to.cpuSeconds - from.cpuSeconds) / seconds) * 1000,
    requestsPerSecond: counts ? (total(to) - total(from)) / seconds : undefined,
    creationCpuSeconds: added === 0 ? undefined : (created.cpuSeconds - atStart.cpuSeconds) / added,
  };
}
