import { kinds } from '../../../api/core/kinds.ts';
import type { Pod } from '../../../api/core/kinds.ts';
import type { Cluster, Selection } from '../../../runtime/client/cluster.ts';
import type { UsedServer } from '../../../tenants/use/use-meter.ts';

/** The processes of kube-apiserver that run now. A container that starts again in the same pod is another process. */
export async function usedServers(
  pods: Required<Pick<Selection, 'namespace' | 'labelSelector'>>,
  management: Pick<Cluster, 'list'>,
  signal: AbortSignal,
): Promise<readonly UsedServer[]> {
  const { items } = await management.list(kinds.Pod, { ...pods, signal });
  return items.flatMap((pod) => {
    const startedAt = startOf(pod);
    const host = pod.status?.podIP;
    if (startedAt === undefined || host === undefined || pod.metadata.deletionTimestamp !== undefined) return [];
    return [{ id: `${pod.metadata.uid}/${startedAt}`, host }];
  });
}

/** When the API server of a pod started; undefined while it does not run. */
function startOf({ status }: Pod): string | undefined {
  const container = status?.containerStatuses?.find(({ name }) => name === 'kube-apiserver');
  // The server's own JSON, in which times are strings.
  const { startedAt } = container?.state?.running ?? {};
  return startedAt === undefined ? undefined : String(startedAt);
}
