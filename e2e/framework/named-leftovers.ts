import { setTimeout as pause } from 'node:timers/promises';

import type { ManagementCluster } from '../cluster/management-cluster.ts';
import { deadlineIn } from './deadline-in.ts';
import { minutes } from './minutes.ts';
import { namespaceObjects } from './namespace-objects.ts';

/**
 * What a namespace holds whose name begins with that of a deleted object, as `namespaceObjects` lists it. Kubernetes' garbage collector
 * removes what an object owned after the object itself: it has half a minute.
 */
export async function namedLeftovers(
  cluster: ManagementCluster,
  { namespace, name }: { readonly namespace: string; readonly name: string },
): Promise<readonly string[]> {
  const deadline = deadlineIn(minutes / 2);
  for (;;) {
    const left = (await namespaceObjects(cluster, namespace)).filter((line) => line.includes(`/${name}`));
    if (left.length === 0 || Date.now() > deadline) return left;
    await pause(200);
  }
}
