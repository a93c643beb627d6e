import { kinds } from '../api/core/kinds.ts';
import type { Key } from '../api/meta.ts';
import type { Cluster } from '../runtime/client/cluster.ts';
import { RetryError } from '../runtime/client/errors.ts';

/** The container of config/manager; a pod of another shape has it first. */
const container = 'manager';
const againMs = 60_000;

/** The image of the manager's own pod. Throws `RetryError` when there is no such pod: the manager runs somewhere else. */
export async function imageOfPod(cluster: Cluster, key: Key, signal: AbortSignal): Promise<string> {
  const pod = await cluster.get(kinds.Pod, key, { signal });
  const containers = pod?.spec?.containers ?? [];
  const image = (containers.find(({ name }) => name === container) ?? containers[0])?.image;
  if (image !== undefined) return image;
  const message = `cannot find the image for Jobs and Deployments of the manager, because the manager is not the pod ${key.namespace ?? ''}/${key.name}: start it with --migrate-image`;
  throw new RetryError('Failed', message, againMs);
}
