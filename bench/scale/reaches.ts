import { percentile } from '../report/percentile.ts';
import { rowsOf, total } from './scale-rows.ts';
import type { RestRow, ScaleRow, TenantRequests } from './scale-rows.ts';

/** A figure beside what it has to be. */
export interface Reach {
  readonly figure: string;
  readonly value: number;
  /** Decimal places of the value. */
  readonly digits: number;
  /** At most this, or at least. */
  readonly bound: number;
  readonly isLeast?: boolean;
  /** Tenants with which it was measured, and for which it has to hold. */
  readonly tenants: number;
  readonly needed: number;
}

/** Whether it is as it has to be, so far as it was measured. */
export type Verdict = 'yes' | 'no' | 'so far';

/** `so far` is within the bound, with fewer tenants than it has to hold for. */
export function verdictOf({ value, bound, isLeast = false, tenants, needed }: Reach): Verdict {
  const holds = isLeast ? value >= bound : value <= bound;
  if (!holds) return 'no';
  return tenants < needed ? 'so far' : 'yes';
}

const needed = 1_000;
const perMinute = 60;

/** For each tenant that an event concerns: one for the event, one for what that changes, and what the status says of both. */
const reconcilesEach = 4;

/** Every figure that these rows have, with its reach. */
export function reachesOf(rows: readonly ScaleRow[]): readonly Reach[] {
  return [
    ...atRest(rowsOf(rows, 'rest')),
    ...created(rows),
    ...rowsOf(rows, 'onemore').map(({ tenants, aloneMs, amongMs }) => ({
      figure: 'one created while all others roll, against one alone, times',
      value: percentile(amongMs, 50) / percentile(aloneMs, 50),
      ...{ digits: 2, bound: 2, tenants, needed },
    })),
    ...started(rows),
    ...rowsOf(rows, 'events').map(({ event, tenants, concerned, reconciles }) => ({
      figure: `reconciles for each concerned tenant when ${event}`,
      value: reconciles / concerned,
      ...{ digits: 1, bound: reconcilesEach, tenants, needed },
    })),
    ...deleted(rows),
    // Real API servers start beside the manager in the other stage.
    ...lag(rows.filter(({ stage }) => stage !== 'standin')),
  ];
}

function atRest(rows: readonly RestRow[]): readonly Reach[] {
  const [none, last] = [rows.find(({ tenants }) => tenants === 0), rows.at(-1)];
  if (last === undefined || last.tenants === 0) return [];
  const { tenants } = last;
  const at = { tenants, needed };
  const each = (requests: number): number => (requests / last.seconds / tenants) * perMinute;
  const without = none === undefined ? 0 : total(none.managementRequests) / none.seconds;
  // What a manager without tenants asks is no matter of their number.
  const added = total(last.managementRequests) / last.seconds - without;
  const thousand = rows.find((row) => row.tenants === needed) ?? last;
  return [
    ...(none === undefined
      ? []
      : [
          {
            figure: 'memory of the manager for each tenant, MiB',
            value: (last.rssMiB - none.rssMiB) / tenants,
            ...{ digits: 2, bound: 0.3, ...at },
          },
        ]),
    {
      figure: 'memory of the manager at 1,000 tenants, MiB',
      value: thousand.rssMiB,
      ...{ digits: 0, bound: 400, tenants: thousand.tenants, needed },
    },
    {
      figure: "connections to a tenant's API server at rest, the most",
      value: Math.max(0, ...Object.keys(last.connections).map(Number)),
      ...{ digits: 0, bound: 1, ...at },
    },
    {
      figure: 'CPU at rest, % of a core',
      value: thousand.cpuPercent,
      ...{ digits: 1, bound: 5, tenants: thousand.tenants, needed },
    },
    {
      figure: "requests at rest to a tenant's API server, a minute",
      value: each(total(last.tenantRequests)),
      ...{ digits: 2, bound: 1, ...at },
    },
    {
      figure: 'requests at rest to the management API for each tenant, a minute',
      value: (Math.max(0, added) / tenants) * perMinute,
      ...{ digits: 2, bound: 0.1, ...at },
    },
  ];
}

/** Without the probes for metrics, which are part of rest. */
export const reconcileRequests = ({ call, line }: TenantRequests): number => call + line;

function created(rows: readonly ScaleRow[]): readonly Reach[] {
  return rowsOf(rows, 'throughput').flatMap((row) => {
    const { tenants, readyMs, cpuSeconds, managementRequests, tenantRequests } = row;
    const [median, last] = [percentile(readyMs, 50), percentile(readyMs, 100)];
    const at = { tenants, needed };
    return [
      {
        figure: 'created at once, Ready a minute',
        value: tenants / (last / 60_000),
        ...{ digits: 0, bound: 1_000, isLeast: true, ...at },
      },
      {
        figure: 'CPU of the manager for each created tenant, ms',
        value: (cpuSeconds * 1000) / tenants,
        ...{ digits: 0, bound: 60, ...at },
      },
      {
        figure: 'management requests for each created tenant',
        value: total(managementRequests) / tenants,
        ...{ digits: 1, bound: 25, ...at },
      },
      {
        figure: "requests to each created tenant's API server",
        value: reconcileRequests(tenantRequests) / tenants,
        ...{ digits: 1, bound: 20, ...at },
      },
      { figure: 'order: median against last', value: median / last, ...{ digits: 2, bound: 0.6, ...at } },
    ];
  });
}

function started(rows: readonly ScaleRow[]): readonly Reach[] {
  return rowsOf(rows, 'restart').flatMap(({ tenants, lookedAtMs, writes, answeredMs }) => {
    const at = { tenants, needed };
    return [
      {
        figure: 'manager started again: all looked at, s',
        value: lookedAtMs / 1000,
        ...{ digits: 1, bound: 60, ...at },
      },
      {
        figure: 'manager started again: writes to objects that need none',
        value: total(writes),
        ...{ digits: 0, bound: 0, ...at },
      },
      {
        figure: "a person's change meanwhile, until its pods have rolled, s",
        value: percentile(answeredMs, 100) / 1000,
        ...{ digits: 1, bound: 2, ...at },
      },
    ];
  });
}

function deleted(rows: readonly ScaleRow[]): readonly Reach[] {
  return rowsOf(rows, 'delete').flatMap(({ tenants, goneMs, left }) => {
    const at = { tenants, needed };
    return [
      {
        figure: 'deleted at once, gone a minute',
        value: tenants / (goneMs / 60_000),
        ...{ digits: 0, bound: 1_000, isLeast: true, ...at },
      },
      {
        figure: 'left of deleted tenants: keys, users, roles, objects',
        // Nothing that is missing makes up for what is left.
        value: total(Object.fromEntries(Object.entries(left).map(([what, count]) => [what, Math.abs(count)]))),
        ...{ digits: 0, bound: 0, ...at },
      },
    ];
  });
}

function lag(rows: readonly ScaleRow[]): readonly Reach[] {
  const worst = rows.toSorted((a, b) => b.lagP99Ms - a.lagP99Ms)[0];
  if (worst === undefined) return [];
  const tenants = Math.max(...rows.map((row) => row.tenants));
  const figure = `event loop: 99th percentile of the lag, ms, the worst stage (${worst.stage})`;
  return [{ figure, value: worst.lagP99Ms, ...{ digits: 0, bound: 20, tenants, needed } }];
}
