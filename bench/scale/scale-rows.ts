import type { Asker } from './stand-in/stand-in-tenant.ts';

/** The stages, in the order in which they are run. */
export const scaleStages = ['standin', 'rest', 'delete', 'throughput', 'restart', 'onemore', 'events'] as const;
export type ScaleStage = (typeof scaleStages)[number];

/** Requests by what asks: `call`s of reconciles, lists and watches on the `line` for drift, and `probe`s for metrics. */
export type TenantRequests = Readonly<Record<Asker, number>>;

/** Requests to the management API by verb. */
export type ManagementRequests = Readonly<Record<string, number>>;

interface Row<Stage extends ScaleStage> {
  readonly stage: Stage;
  readonly tenants: number;
  /** How many managers share the tenants; absent for one. Memory and lag are those of the worst, all else is of all together. */
  readonly managers?: number;
  /** The 99th percentile of the event loop's lag, and the longest, in milliseconds. */
  readonly lagP99Ms: number;
  readonly lagMaxMs: number;
}

/** What the manager did until one tenant was Ready. */
export interface CreationCost {
  readonly readyMs: number;
  readonly cpuMs: number;
  readonly managementRequests: ManagementRequests;
  /** Calls of reconciles by verb. */
  readonly tenantCalls: Readonly<Record<string, number>>;
}

/** Tenants of the stand-in against the same with real API servers, each created alone. */
export interface StandInRow extends Row<'standin'> {
  readonly standIn: readonly CreationCost[];
  readonly real: readonly CreationCost[];
}

/** The manager at rest. */
export interface RestRow extends Row<'rest'> {
  /** It had rested for so long, and was looked at for so long. */
  readonly idleSeconds: number;
  readonly rssMiB: number;
  readonly heapMiB: number;
  /** Of one core. */
  readonly cpuPercent: number;
  /** While it was looked at. */
  readonly seconds: number;
  readonly managementRequests: ManagementRequests;
  readonly tenantRequests: TenantRequests;
  /** The number of tenants by how many connections to their API servers were open in the end. */
  readonly connections: Readonly<Record<string, number>>;
}

/** All tenants deleted at once. */
export interface DeleteRow extends Row<'delete'> {
  readonly goneMs: number;
  /** Until the garbage collector had removed what they owned, from the same time on. */
  readonly collectedMs: number;
  readonly left: { readonly keys: number; readonly users: number; readonly roles: number; readonly objects: number };
  /** Before, and after a rest. */
  readonly rssMiB: readonly [before: number, after: number];
}

/** Tenants created at once. */
export interface ThroughputRow extends Row<'throughput'> {
  /** Since the first request, ascending. */
  readonly readyMs: readonly number[];
  /** Until the last was Ready. */
  readonly cpuSeconds: number;
  readonly managementRequests: ManagementRequests;
  readonly tenantRequests: TenantRequests;
}

/** The manager started again. */
export interface RestartRow extends Row<'restart'> {
  /** From the start of the process until as many reconciles as tenants have ended and none waits. */
  readonly lookedAtMs: number;
  /** From a person's change to the changed Deployment, while the manager starts. */
  readonly answeredMs: readonly number[];
  /** Writes to objects of the fleet that the API server counted, by verb and resource, while nobody changed anything. */
  readonly writes: Readonly<Record<string, number>>;
}

/** One tenant created alone, and while all others roll. Milliseconds until Ready. */
export interface OneMoreRow extends Row<'onemore'> {
  readonly aloneMs: readonly number[];
  readonly amongMs: readonly number[];
  /** Until all had rolled, from the first change on. */
  readonly rolledMs: readonly number[];
}

/** What follows an event. */
export interface EventRow extends Row<'events'> {
  readonly event: string;
  /** Tenants that the event concerns. */
  readonly concerned: number;
  readonly reconciles: number;
  readonly managementRequests: number;
}

export type ScaleRow = StandInRow | RestRow | DeleteRow | ThroughputRow | RestartRow | OneMoreRow | EventRow;

/** The rows of one stage. */
export function rowsOf<Stage extends ScaleStage>(
  rows: readonly ScaleRow[],
  stage: Stage,
): readonly Extract<ScaleRow, { readonly stage: Stage }>[] {
  return rows.filter((row): row is Extract<ScaleRow, { readonly stage: Stage }> => row.stage === stage);
}

/** All requests of a kind. */
export function total(requests: Readonly<Record<string, number>>): number {
  return Object.values(requests).reduce((sum, count) => sum + count, 0);
}

/** What was asked between two looks. */
export function requestsBetween<Name extends string>(
  before: Readonly<Partial<Record<Name, number>>>,
  after: Readonly<Record<Name, number>>,
): Readonly<Record<Name, number>> {
  const entries = Object.entries<number>(after).map(([name, count]) => [name, count - (before[name as Name] ?? 0)]);
  return Object.fromEntries(entries) as Record<Name, number>;
}

/** One number for each tenant that was counted by it. */
export function spreadOut(tenantsBy: Readonly<Record<string, number>>): readonly number[] {
  return Object.entries(tenantsBy).flatMap(([number, tenants]) =>
    Array.from({ length: tenants }, () => Number(number)),
  );
}
