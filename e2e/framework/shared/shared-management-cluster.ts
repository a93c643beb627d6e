import { readFile } from 'node:fs/promises';
import path from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';

import { isMissing } from '../../cluster/machines/is-missing.ts';
import type { Progress } from '../../cluster/machines/supplies.ts';
import { attachManagementCluster, startManagementCluster } from '../../cluster/management-cluster.ts';
import type { ManagementCluster } from '../../cluster/management-cluster.ts';
import { removeHarness } from '../../cluster/remove-harness.ts';
import { serveInBackground } from '../../cluster/serve-in-background.ts';
import { harnessFolder, writeRecord } from '../../cluster/state.ts';
import { deadlineIn } from '../deadline-in.ts';
import { managerIsAvailable } from '../install-steward.ts';
import { minutes } from '../minutes.ts';
import type { SharedClusterSteps, SharedRecord } from './borrow-cluster.ts';
import { readClusterState } from './read-cluster-state.ts';

/** Which cluster is shared, and what is on it. */
export interface SharedClusterOptions {
  /** Name of its harness. */
  readonly name: string;
  /** The process that removes it in the end. */
  readonly owner: number;
  readonly progress: Progress;
  /** Installs what all scenarios find there. */
  readonly install: (cluster: ManagementCluster) => Promise<void>;
}

/** How a real management cluster is shared: it outlives the process that starts it, and ends with its owner. */
export function sharedManagementCluster(options: SharedClusterOptions): SharedClusterSteps<ManagementCluster> {
  const { name, owner, progress, install } = options;
  const file = path.join(harnessFolder(name), 'shared.json');
  let deadline: number | undefined;
  return {
    record: () =>
      readFile(file, 'utf8').then(
        (text) => JSON.parse(text) as SharedRecord,
        (error: unknown) => {
          if (isMissing(error)) return undefined;
          throw error;
        },
      ),
    keep: (record) => writeRecord(file, record),
    start: () =>
      startManagementCluster({
        ...{ name, owner, progress },
        serve: false,
        whileStarting: async (cluster) => {
          await serveInBackground(cluster.harness);
          await install(cluster);
        },
      }),
    attach: async () => {
      const cluster = await attachManagementCluster(name, progress);
      await managerIsAvailable(cluster);
      return cluster;
    },
    detach: ({ harness }) => {
      harness.detach();
    },
    remove: () => removeHarness(name),
    state: readClusterState,
    clear: async (cluster, { objects, machines }) => {
      progress('shared cluster', `clearing ${objects.length} objects and ${machines.length} machines`);
      const present = await cluster.harness.machines();
      for (const machine of present.filter((each) => machines.includes(each.name)))
        await cluster.harness.removeMachine(machine);
      // Whoever refuses is asked again, and is named when the time is up.
      await Promise.allSettled(objects.map((address) => cluster.client.delete(address)));
    },
    wait: async () => {
      deadline ??= deadlineIn(2 * minutes);
      await pause(500);
      return Date.now() < deadline;
    },
    log: progress,
  };
}
