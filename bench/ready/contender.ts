import { setTimeout as pause } from 'node:timers/promises';

import type { PlainObject } from '../../e2e/cluster/kubernetes-client.ts';
import type { ManagementCluster } from '../../e2e/cluster/management-cluster.ts';
import type { Milestone, Timeline } from './milestones.ts';

/** One of the ways to a control plane that are compared. */
export interface Contender {
  /** For tables. */
  readonly name: string;
  /** What means ready here: for Steward its status, which the first replica brings; for pods by hand that replica itself. */
  readonly ready: Milestone;
  /** Creates one control plane and measures. Everything that it needs is there already. */
  run(replicas: number): Promise<Timeline>;
  /** Removes the control plane; resolves when its pods and its data are gone. */
  clear(): Promise<void>;
}

/** Sends a create request for each object, in their order, as `kubectl create` would. */
export async function createObjects({ client }: ManagementCluster, objects: readonly PlainObject[]): Promise<void> {
  for (const object of objects) {
    const { apiVersion = '', kind = '', metadata } = object;
    const path = await client.connection.pathOf(apiVersion, kind, undefined, metadata?.namespace ?? 'default');
    await client.connection.send({ method: 'POST', path, body: object });
  }
}

/** Ends all pods of a namespace within a second each and waits until there are none. */
export async function endPods(cluster: ManagementCluster, namespace: string): Promise<void> {
  const { connection } = cluster.client;
  const path = await connection.pathOf('v1', 'Pod', undefined, namespace);
  const deadline = performance.now() + 60_000;
  while ((await cluster.client.list('v1', 'Pod', namespace)).length > 0) {
    if (performance.now() > deadline) {
      throw new Error(`Pods of ${namespace} do not end.\n${await cluster.diagnose(namespace)}`);
    }
    await connection.send({
      method: 'DELETE',
      path,
      body: { apiVersion: 'v1', kind: 'DeleteOptions', gracePeriodSeconds: 1 },
    });
    await pause(500);
  }
}
