/** Quick-start datastores in which tenants are measured, one after the other. */
export const floodStores = ['etcd', 'postgres', 'mysql', 'nats'] as const;
export type FloodStore = (typeof floodStores)[number];

/** What the hostile tenant does, in this order. */
export const attacks = [
  'config maps',
  'large objects',
  'overwrites',
  'watches',
  'events',
  'definitions',
  'handshakes',
] as const;
export type Attack = (typeof attacks)[number];

/** What the neighbor noticed while the hostile tenant did one thing, or nothing. */
export interface FloodRow {
  readonly store: FloodStore;
  readonly attack: 'alone' | Attack;
  readonly seconds: number;
  /** How long each answered call of the neighbor took, in whole milliseconds. */
  readonly writesMs: readonly number[];
  readonly readsMs: readonly number[];
  /** Calls of the neighbor that failed, also while the hostile tenant deleted what it had written. */
  readonly failed: readonly string[];
  /** Absent when nothing is done. */
  readonly hostile?: HostileCounts;
  /** Alarms of etcd and the size of its file at the end; absent for other datastores. */
  readonly alarms?: readonly string[];
  readonly fileMiB?: number;
  /** The most files, connections among them, and memory that etcd had meanwhile; absent for other datastores. */
  readonly mostFiles?: number;
  readonly mostMemoryMiB?: number;
  /** Average load of the machine in the last minute, at the end. */
  readonly load: number;
}

/** What became of what the hostile tenant did. */
export interface HostileCounts {
  /** Writes that were accepted, watches that were opened, kinds that were defined and listed, or connections that were taken. */
  readonly accepted: number;
  /** Writes that were denied by the quota. */
  readonly denied: number;
  /** What failed otherwise, and for example why. */
  readonly failures: number;
  readonly failure?: string;
  /** CPU time of the client, in percent of one core. */
  readonly cpuPercent: number;
  /** What the quota did; absent where nothing is written. */
  readonly quota?: QuotaCounts;
  /** Whether the control plane of the hostile tenant was Ready in the end. */
  readonly isReady: boolean;
}

/** How the quota limited a flood of writes, and how the tenant came back. */
export interface QuotaCounts {
  /** From the accepted write that reached the limit to the first one that was denied, in milliseconds; absent when none was denied. */
  readonly deniedAfterMs?: number;
  /** Deletions of what was written, made after that. */
  readonly deleted: number;
  readonly undeleted: number;
  /** From the last deletion to the next accepted write, in milliseconds; absent when none was accepted. */
  readonly writesAgainAfterMs?: number;
  /** Whether the condition WithinQuota was True again. */
  readonly isWithinQuota: boolean;
}
