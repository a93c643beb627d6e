import { setTimeout as pause } from 'node:timers/promises';

import { hasCondition } from '../cluster/kubernetes-client.ts';
import type { PlainObject } from '../cluster/kubernetes-client.ts';
import type { ManagementCluster } from '../cluster/management-cluster.ts';
import { deadlineIn } from './deadline-in.ts';
import { managerIsAvailable } from './install-steward.ts';
import { minutes } from './minutes.ts';

const selector = 'control-plane=controller-manager';

/** Replaces the manager's process by one that has done nothing yet; its Deployment stays as it is. */
export async function freshManager(cluster: ManagementCluster): Promise<void> {
  const pods = (): Promise<readonly PlainObject[]> => cluster.client.list('v1', 'Pod', 'steward-system', selector);
  const old = (await pods()).map(({ metadata }) => metadata?.uid);
  await cluster.kubectl(['-n', 'steward-system', 'delete', 'pod', '-l', selector]);
  const isFresh = (pod: PlainObject): boolean => !old.includes(pod.metadata?.uid) && hasCondition('Ready')(pod);
  for (const deadline = deadlineIn(2 * minutes); !(await pods()).every(isFresh) || (await pods()).length === 0;) {
    if (Date.now() > deadline) throw new Error(`No new manager is Ready.\n${await cluster.diagnose('steward-system')}`);
    await pause(200);
  }
  await managerIsAvailable(cluster);
}
