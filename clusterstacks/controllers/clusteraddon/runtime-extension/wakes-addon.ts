import type { ServedHook } from './hooks.ts';
import type { KnownCluster } from './known-cluster.ts';

/**
 * Whether a hook reports something that the ClusterAddon of a Cluster has not acted upon. Since anyone can call, nothing else enqueues it.
 */
export function wakesAddon(hook: ServedHook['hook'], known: KnownCluster | undefined): boolean {
  if (known?.addon === undefined) return false;
  const { spec, status } = known.addon;
  const { clusterStack = '' } = spec;
  const completed = status?.completedHooks ?? [];
  if (hook === 'AfterControlPlaneInitialized') return known.isInitialized && clusterStack === '';
  if (hook === 'AfterClusterUpgrade') {
    return completed.includes('BeforeClusterUpgrade') && !completed.includes('AfterClusterUpgrade');
  }
  return false;
}
