import { disposeOnSignals } from '../e2e/cluster/dispose-on-signals.ts';
import type { Progress } from '../e2e/cluster/machines/supplies.ts';
import { removeHarness } from '../e2e/cluster/remove-harness.ts';
import { startClusterApiStage } from '../e2e/framework/cluster-api/cluster-api-stage.ts';
import type { BenchRun, Stages } from './figure.ts';
import { attachStewardCluster, startStewardCluster } from './steward-cluster.ts';
import { MachineSteps } from './worker/machine-steps.ts';

type Work<Stage> = (stage: Stage) => Promise<void>;

/** Starts what benchmarks are run on, does the work, and removes it, however the work ends. */
export const onStage: {
  readonly [Stage in keyof Stages]: (run: BenchRun, work: Work<Stages[Stage]>) => Promise<void>;
} = {
  steward: onSteward,
  clusterApi: onClusterApi,
  machines: (_, work) => withHarnesses(work),
  process: (_, work) => work(undefined),
};

async function onSteward({ options, progress }: BenchRun, work: Work<Stages['steward']>): Promise<void> {
  const { cluster: running, keep } = options;
  if (running !== undefined) {
    const cluster = await attachStewardCluster(running, progress);
    await work(cluster);
    return;
  }
  let name = '';
  const start = async (harness: (part: string) => string): Promise<void> => {
    name = harness('bench');
    await work(await startStewardCluster({ name, keep, progress }));
  };
  await withHarnesses(start, keep);
  if (keep) progress('kept', `${name}; remove it with: node e2e/cluster/main.ts down ${name}`);
}

async function onClusterApi({ options, progress }: BenchRun, work: Work<Stages['clusterApi']>): Promise<void> {
  if (options.cluster !== undefined)
    throw new Error(`--cluster ${options.cluster}: the worker's management cluster has to be started here, because its
machines are made by this process. Leave the option out for it.`);
  const steps = new MachineSteps();
  const hear: Progress = (line, step = '') => {
    steps.hear(line, step);
    progress(line, step);
  };
  await withHarnesses(async (harness) => {
    await using stage = await startClusterApiStage(harness('bench-capi'), hear);
    await work({ ...stage, steps });
  });
}

/** Removes every harness that was named, by its name: a signal may come while one is half-made. */
async function withHarnesses(work: Work<Stages['machines']>, keep = false): Promise<void> {
  const names = new Set<string>();
  const removal = {
    [Symbol.asyncDispose]: async () => {
      if (!keep) for (const name of names) await removeHarness(name);
    },
  };
  using signals = disposeOnSignals(removal);
  try {
    await work((part) => {
      const name = `${part}-${process.pid}`;
      names.add(name);
      return name;
    });
  } finally {
    signals[Symbol.dispose]();
    await removal[Symbol.asyncDispose]();
  }
}
