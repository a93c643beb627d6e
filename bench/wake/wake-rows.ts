import type { HostileKind } from '../../testing/builders/hostile-hello.ts';

/** The stages, in the order in which they are run. */
export const wakeStages = ['first', 'callers', 'sleeping', 'hostile'] as const;
export type WakeStage = (typeof wakeStages)[number];

/** What leads to a control plane. */
export const endpointTypes = ['ClusterIP', 'NodePort', 'LoadBalancer', 'Ingress', 'Gateway'] as const;
export type EndpointType = (typeof endpointTypes)[number];

/** Programs that call as they are, without retries of their own. */
export const clientNames = ['kubectl', 'helm', 'curl'] as const;
export type ClientName = (typeof clientNames)[number];

/** The first answer of a control plane without pods, beside a start of the same pods by hand. */
export interface FirstRow {
  readonly stage: 'first';
  readonly endpoint: EndpointType;
  readonly client: ClientName;
  readonly round: number;
  /** From the begin of the command to its end. Absent if it failed. */
  readonly answeredMs?: number;
  readonly failure?: string;
  /** How often the control plane was woken up meanwhile. */
  readonly wakes: number;
  /** From the request for one replica to the end of the same command, which is begun when the pod is Ready. */
  readonly byHandMs: number;
  /** How busy the processors were before each, 0 to 1. */
  readonly busyBefore: readonly [asleep: number, byHand: number];
}

/** Many who call a control plane without pods at the same time. */
export interface CallersRow {
  readonly stage: 'callers';
  readonly round: number;
  readonly callers: number;
  /** From the first call to each answer, ascending. */
  readonly answeredMs: readonly number[];
  readonly failures: readonly string[];
  readonly wakes: number;
}

/** What one pod holds, MiB. */
export interface PodMemory {
  /** Pages that several processes share, such as those of the program, count in part. */
  readonly pssMiB: number;
  /** What is its own alone: anonymous memory. */
  readonly ownMiB: number;
}

/** What each pod of the activator holds, by its name. */
export type ActivatorMemory = Readonly<Record<string, PodMemory>>;

/** Tenants at rest, and the manager beside them. */
export interface SleepingRow {
  readonly stage: 'sleeping';
  readonly state: 'awake' | 'asleep';
  readonly tenants: number;
  readonly seconds: number;
  /** What all pods of all these tenants take. Pages that several processes share count in part. */
  readonly pods: number;
  readonly podsPssMiB: number;
  readonly podsAnonymousMiB: number;
  readonly podsMilliCpu: number;
  readonly manager: {
    readonly rssMiB: number;
    readonly anonymousMiB: number;
    readonly milliCpu: number;
    /** Absent when the manager does not count them. */
    readonly requestsPerSecond?: number;
  };
  readonly activatorMiB: ActivatorMemory;
  /** Tenants that woke up meanwhile, though nobody had called. */
  readonly awoken: number;
}

/** What the calls of an awake tenant took, and which failed. */
export interface NeighborCalls {
  readonly callsMs: readonly number[];
  readonly failed: readonly string[];
}

/** Hellos that no client says, at the endpoints of sleeping tenants. */
export interface HostileRow {
  readonly stage: 'hostile';
  readonly tenants: number;
  /** How many of each kind were said. */
  readonly hellos: Readonly<Partial<Record<HostileKind, number>>>;
  readonly seconds: number;
  /** Connections that could not be opened, that were answered something, and that were not closed in time. */
  readonly refused: number;
  readonly answered: number;
  readonly unclosed: number;
  /** What the activator says became of connections meanwhile, by outcome. */
  readonly outcomes: Readonly<Record<string, number>>;
  /** Tenants that woke up, and tenants for which a wake was requested. */
  readonly awoken: number;
  readonly requests: number;
  readonly activatorMiB: {
    readonly before: ActivatorMemory;
    readonly peak: ActivatorMemory;
    readonly after: ActivatorMemory;
  };
  /** How often containers of the activator were started again meanwhile. */
  readonly restarts: number;
  /** Connections of the neighbor that the activator passes on, because they woke it up. */
  readonly passed: number;
  readonly neighbor: { readonly alone: NeighborCalls; readonly beside: NeighborCalls };
  /** CPU time of the process that says the hellos, in percent of one core. */
  readonly cpuPercent: number;
}

export type WakeRow = FirstRow | CallersRow | SleepingRow | HostileRow;

/** The rows of one stage. */
export function rowsOf<Stage extends WakeStage>(
  rows: readonly WakeRow[],
  stage: Stage,
): readonly Extract<WakeRow, { readonly stage: Stage }>[] {
  return rows.filter((row): row is Extract<WakeRow, { readonly stage: Stage }> => row.stage === stage);
}
