/** What happens to managers and to what they talk to. */
export const faultKinds = ['killed', 'hung', 'partitioned', 'throttled', 'expired', 'store restarted'] as const;
export type FaultKind = (typeof faultKinds)[number];

/** A run over a fleet of tenants, with faults all the time. */
export interface ChaosRow {
  readonly seed: number;
  readonly minutes: number;
  readonly managers: number;
  /** Absent where one of them leads. */
  readonly shards?: boolean;
  /** When the run began. */
  readonly tenants: { readonly standIn: number; readonly real: number };
  /** How often each happened. */
  readonly faults: Readonly<Record<FaultKind, number>>;
  /** What persons asked for meanwhile; `repeated` are requests that failed and were sent again. */
  readonly changes: {
    readonly rolled: number;
    readonly created: number;
    readonly deleted: number;
    readonly repeated: number;
  };
  /** From the end of the last fault until all tenants were as asked for; absent if they were not in time. */
  readonly convergedMs?: number;
  /** Tenants that are not as asked for, with what is missing; the first of them. */
  readonly unconverged: readonly string[];
  /** Objects that one tenant has and nearly all others do not, and the other way round; the first of them. */
  readonly doubled: readonly string[];
  readonly missing: readonly string[];
  /** What users of the real tenants wrote. */
  readonly writes: { readonly acknowledged: number; readonly failed: number; readonly lost: number };
  /** How often the Lease of the leader got another holder, and how many managers ended by themselves, as one that has lost the Lease does. */
  readonly takeovers: number;
  readonly endedByThemselves: number;
  /** Resident memory of the largest manager, each minute, in MiB. */
  readonly rssMiB: readonly number[];
  /** The same when everything had come to rest. */
  readonly restedRssMiB: number;
}
