import { kinds } from '../../api/core/kinds.ts';
import type { ClusterAddon } from '../../api/clusterstack/cluster-addon.ts';
import type { CapiCluster } from '../../api/cluster-api/kinds.ts';
import { KubeconfigError, parseKubeconfig } from '../../runtime/kubeconfig.ts';
import type { Dependencies } from './dependencies.ts';
import { StageError, lookAgain } from './stage-error.ts';
import type { WorkloadDoor } from './workload-budget.ts';
import { withinBudget } from './workload-budget.ts';

/** How long one visit may wait for answers of the workload cluster, in milliseconds; two calls that time out. */
const budgetMs = 20_000;

/**
 * The door to a workload cluster, by the kubeconfig that Cluster API keeps for it. It is outside of our trust: every answer is
 * bounded in size and time, and so is what one visit may wait for all of them.
 * @throws StageError while there is no usable kubeconfig.
 */
export async function openWorkload(
  deps: Dependencies,
  { addon, cluster }: { readonly addon: ClusterAddon; readonly cluster: CapiCluster },
  signal: AbortSignal,
): Promise<WorkloadDoor> {
  const { name = '', namespace = '' } = cluster.metadata;
  const key = { namespace, name: `${name}-kubeconfig` };
  const secret = await deps.cluster.get(kinds.Secret, key, { signal });
  const value = secret?.data?.value;
  if (value === undefined) throw notReady(`Secret ${key.name} with the kubeconfig is not there yet`);
  try {
    const connection = parseKubeconfig(Buffer.from(value, 'base64').toString('utf8'));
    return withinBudget(deps.pool.borrow(addon.metadata.uid ?? '', connection), deps.clock, budgetMs);
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
