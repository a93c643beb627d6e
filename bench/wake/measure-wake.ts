import type { ManagementCluster } from '../../e2e/cluster/management-cluster.ts';
import { installActivator } from '../../e2e/framework/waking/install-activator.ts';
import { measureHostile } from './hostile/measure-hostile.ts';
import { measureCallers } from './measure-callers.ts';
import { measureFirst } from './measure-first.ts';
import { measureSleeping } from './measure-sleeping.ts';
import type { SleepingOptions } from './measure-sleeping.ts';
import { wakeStages } from './wake-rows.ts';
import type { EndpointType, WakeRow, WakeStage } from './wake-rows.ts';

/** How much is measured. */
export interface WakeOptions extends SleepingOptions {
  readonly stages: readonly WakeStage[];
  /** What is called first. */
  readonly endpoints: readonly EndpointType[];
  /** How often each endpoint is called first, and all callers call. */
  readonly rounds: number;
  readonly hellos: number;
}

/** Installs the activator, and measures one stage after the other. */
export async function measureWake(cluster: ManagementCluster, options: WakeOptions): Promise<readonly WakeRow[]> {
  cluster.harness.progress('wake', 'installing the activator');
  await installActivator(cluster);
  const measures: Readonly<Record<WakeStage, () => Promise<readonly WakeRow[]>>> = {
    first: () => measureFirst(cluster, options),
    callers: () => measureCallers(cluster, options.rounds),
    sleeping: () => measureSleeping(cluster, options),
    hostile: () => measureHostile(cluster, options.hellos),
  };
  const rows: WakeRow[] = [];
  for (const stage of wakeStages) {
    if (!options.stages.includes(stage)) continue;
    const measured = await measures[stage]();
    // Printed at once: a later stage may fail.
    cluster.harness.progress(`wake, ${stage}`, JSON.stringify(measured));
    rows.push(...measured);
  }
  return rows;
}
