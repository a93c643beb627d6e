import { kinds } from '../../../../api/core/kinds.ts';
import type { ClusterAddon } from '../../../api/cluster-addon.ts';
import type { CapiCluster } from '../../../../api/cluster-api/kinds.ts';
import { KubeconfigError } from '../../../../api/kubeconfig.ts';
import { parseKubeconfig } from '../../../../runtime/client/kubeconfig.ts';
import type { Dependencies } from '../dependencies.ts';
import { StageError, lookAgain } from '../stage-error.ts';
import type { WorkloadClient } from './workload-budget.ts';
import { withinBudget } from './workload-budget.ts';

/** How long one reconcile may wait for answers of the workload cluster, in milliseconds; two calls that time out. */
const budgetMs = 20_000;

/**
 * The client of a workload cluster, by the kubeconfig that Cluster API keeps for it. The cluster is not trusted: every response is bounded
 * in size and time, and so is the time that one reconcile may wait for all of them.
 * @throws StageError while there is no usable kubeconfig.
 */
export async function openWorkload(
  deps: Dependencies,
  { addon, cluster }: { readonly addon: ClusterAddon; readonly cluster: CapiCluster },
  signal: AbortSignal,
): Promise<WorkloadClient> {
  const { name, namespace } = cluster.metadata;
  const key = { namespace, name: `${name}-kubeconfig` };
  const secret = await deps.cluster.get(kinds.Secret, key, { signal });
  const value = secret?.data?.value;
  if (value === undefined) throw notReady(`there is no kubeconfig in Secret ${key.name} yet`);
  try {
    const connection = parseKubeconfig(Buffer.from(value, 'base64').toString('utf8'));
    return withinBudget(deps.pool.borrow(addon.metadata.uid, connection), deps.clock, budgetMs);
  } catch (error) {
    if (error instanceof KubeconfigError) throw notReady(`Secret ${key.name}: ${error.message}`);
    throw error;
  }
}

/** The workload cluster cannot be used. */
export function notReady(message: string): StageError {
  return new StageError({
    type: 'ClusterReady',
    reason: 'ControlPlaneNotReady',
    message,
    afterMs: lookAgain.usual,
  });
}
