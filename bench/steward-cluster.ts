import { attachManagementCluster, startManagementCluster } from '../e2e/cluster/management-cluster.ts';
import type { ManagementCluster } from '../e2e/cluster/management-cluster.ts';
import type { Progress } from '../e2e/cluster/machines/supplies.ts';
import { installDataStore, installSteward } from '../e2e/framework/install-steward.ts';

/** The manager's Deployment in `config/manager`. */
export const managerDeployment = {
  apiVersion: 'apps/v1',
  kind: 'Deployment',
  namespace: 'steward-system',
  name: 'steward-controller-manager',
} as const;

/** The DataStore of `config/datastores/etcd`. */
export const dataStoreName = 'default';

/** How the cluster to measure on is had. */
export interface StewardClusterOptions {
  /** Name of the harness. */
  readonly name: string;
  readonly keep: boolean;
  readonly progress: Progress;
  /** Folder below `config/datastores`; by default the quick-start etcd with one member. */
  readonly dataStore?: string;
}

/**
 * Starts a real management cluster with the manager as a Deployment and the quick-start etcd as DataStore, as a user
 * installs them; resolves when all of it is ready.
 */
export async function startStewardCluster(options: StewardClusterOptions): Promise<ManagementCluster> {
  const cluster = await startManagementCluster(options);
  try {
    await installSteward(cluster);
    await openMetrics(cluster);
    await installDataStore(cluster, options.dataStore);
    if (options.keep) await cluster.harness.keep();
    return cluster;
  } catch (error) {
    await cluster.stop();
    throw error;
  }
}

/** Uses a management cluster that runs already, with Steward in it, and gives it volumes and addresses meanwhile. */
export async function attachStewardCluster(name: string, progress: Progress): Promise<ManagementCluster> {
  const cluster = await attachManagementCluster(name, progress);
  cluster.serve();
  await cluster.waitFor(managerDeployment, 'Available', { timeoutMs: 180_000 });
  await openMetrics(cluster);
  return cluster;
}

/** Figures are read from the host, which has no account of the cluster: the manager's metrics are plain and open here. */
async function openMetrics(cluster: ManagementCluster): Promise<void> {
  const open = ['--insecure-diagnostics', '--metrics-bind-address=:8080'];
  const manager = `deployment/${managerDeployment.name}`;
  const kubectl = (...args: readonly string[]) =>
    cluster.kubectl(['-n', managerDeployment.namespace, ...args], { timeoutMs: 150_000 });
  const path = '/spec/template/spec/containers/0/args';
  const { stdout } = await kubectl('get', manager, '-o', 'jsonpath={.spec.template.spec.containers[0].args}');
  const args = JSON.parse(stdout) as readonly string[];
  const wanted = [...args.filter((arg) => !arg.startsWith('--metrics-bind-address') && !open.includes(arg)), ...open];
  await kubectl('patch', manager, '--type=json', '-p', JSON.stringify([{ op: 'replace', path, value: wanted }]));
  await kubectl('rollout', 'status', manager, '--timeout=120s');
}
