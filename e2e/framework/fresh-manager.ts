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
  // kube-proxy learns of the pod after its Deployment does.
  for (const deadline = deadlineIn(minutes); !(await isAnsweredByWebhooks(cluster));) {
    if (Date.now() > deadline) throw new Error(`No webhook answers.\n${await cluster.diagnose('steward-system')}`);
    await pause(200);
  }
}

/** Whether the API server reaches the webhooks of the manager. */
async function isAnsweredByWebhooks(cluster: ManagementCluster): Promise<boolean> {
  const spec = { kubernetes: { version: 'v1.36.3' }, controlPlane: { service: { serviceType: 'ClusterIP' } } };
  const metadata = { name: 'probe', namespace: 'default' };
  const probe = { apiVersion: 'steward.butlerlabs.dev/v1alpha1', kind: 'TenantControlPlane', metadata, spec };
  return cluster.kubectl(['create', '--dry-run=server', '-f', '-'], { input: JSON.stringify(probe) }).then(
    () => true,
    (error: unknown) => !String(error).includes('failed calling webhook'),
  );
}
