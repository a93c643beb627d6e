/** What happens on the way to a worker, in the order in which it usually does. */
export const workerMilestones = [
  'request answered',
  'control plane Ready',
  'control plane initialized',
  'Machine exists',
  'bootstrap data exists',
  'machine starts',
  'machine booted',
  'node exists',
  'joined',
  'node Ready',
] as const;
export type WorkerMilestone = (typeof workerMilestones)[number];

/** When what was reached first, in milliseconds. */
export type WorkerTimeline = Partial<Record<WorkerMilestone, number>>;

/** One way to a worker. */
export interface WorkerRow {
  /** `Cluster`: from `kubectl apply` of a Cluster with a MachineDeployment. `by hand`: a machine that joins a control plane which is ready. */
  readonly way: 'Cluster' | 'by hand';
  /** One for each round. */
  readonly timelines: readonly WorkerTimeline[];
  /** How busy the processors were before each round, 0 to 1. */
  readonly busyBefore: readonly number[];
}
