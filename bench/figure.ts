import type { ManagementCluster } from '../e2e/cluster/management-cluster.ts';
import type { Progress } from '../e2e/cluster/machines/supplies.ts';
import type { ClusterApiStage } from '../e2e/framework/cluster-api/cluster-api-stage.ts';
import type { BenchOptions } from './options.ts';
import type { Presentation } from './report/presentation.ts';
import type { MachineSteps } from './worker/machine-steps.ts';

/** What benchmarks are run on, each started once for all of its benchmarks. */
export interface Stages {
  /** A management cluster with Steward and the quick-start etcd. */
  readonly steward: ManagementCluster;
  /** The same with Cluster API, and with an infrastructure provider that says what it does. */
  readonly clusterApi: ClusterApiStage & { readonly steps: MachineSteps };
  /** The benchmark starts clusters itself; the names that it asks for are removed in the end, however it ends. */
  readonly machines: (part: string) => string;
  /** Nothing but this process. */
  readonly process: undefined;
}

/** How a benchmark is run. */
export interface BenchRun {
  readonly options: BenchOptions;
  readonly progress: Progress;
}

/** A benchmark: what `npm run bench -- <name>` measures, prints and records. */
export interface Figure<Stage extends keyof Stages, Row = unknown> {
  readonly presentation: Presentation<Row>;
  /** One line for `--help`. */
  readonly help: string;
  /** Whether `all --quick` runs it. */
  readonly isQuick?: boolean;
  measure(stage: Stages[Stage], run: BenchRun): Promise<readonly Row[]>;
  /** Whether a bound is broken, with which `--check` fails. */
  isBroken?(rows: readonly Row[]): boolean;
}
