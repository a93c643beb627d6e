import { attachManagementCluster, startManagementCluster } from '../cluster/management-cluster.ts';
import type { ManagementCluster } from '../cluster/management-cluster.ts';
import type { Progress } from '../cluster/machines/supplies.ts';
import { installDataStore, installSteward } from './install-steward.ts';
import { kubectlTimeout } from './kubectl-timeout.ts';
import { borrowCluster } from './shared/borrow-cluster.ts';
import { sharedManagementCluster } from './shared/shared-management-cluster.ts';
import { sharedName, sharedOwner } from './shared/shared-names.ts';

const manager = 'deployment/steward-controller-manager';

/** A management cluster with the manager, and with the DataStore `default` unless another was asked for. Disposing removes what this process started, or gives back what it shares. */
export interface StewardCluster extends AsyncDisposable {
  readonly cluster: ManagementCluster;
}

/** What a cluster is started with. */
export interface StewardClusterOptions {
  /** Folder below `config/datastores` that is installed; undefined: none. `etcd` unless said. */
  readonly dataStore?: string | undefined;
}

/**
 * Starts a management cluster and installs Steward without Cluster API. While a test is being written,
 * `STEWARD_E2E_CLUSTER` names one that is up already (`node e2e/cluster/main.ts up <name>`) and that stays: only the manager
 * is installed again.
 */
export async function startStewardCluster(
  name: string,
  progress: Progress,
  options: StewardClusterOptions = { dataStore: 'etcd' },
): Promise<StewardCluster> {
  const up = process.env.STEWARD_E2E_CLUSTER ?? '';
  if (up !== '') {
    const cluster = await attachManagementCluster(up, progress);
    await installed(cluster, options);
    // The image has the same name as before: only a new pod runs the new one.
    await cluster.kubectl(['-n', 'steward-system', 'rollout', 'restart', manager]);
    await cluster.kubectl(['-n', 'steward-system', 'rollout', 'status', manager, kubectlTimeout(60)], {
      timeoutMs: 90_000,
    });
    return { cluster, [Symbol.asyncDispose]: () => Promise.resolve() };
  }
  const cluster = await startManagementCluster({ name, progress, whileStarting: (of) => installed(of, options) });
  return {
    cluster,
    async [Symbol.asyncDispose]() {
      await cluster.stop();
    },
  };
}

/**
 * Lends the management cluster with Steward and the DataStore `default` that scenarios share one after the other. Disposing removes what
 * the scenario has made on it, and fails when something stays. So it is for scenarios that change neither the manager nor its cluster for
 * good. One that is called `name` is started where nothing is shared.
 */
export async function shareStewardCluster(name: string, progress: Progress): Promise<StewardCluster> {
  const owner = sharedOwner();
  if (owner === undefined || (process.env.STEWARD_E2E_CLUSTER ?? '') !== '') return startStewardCluster(name, progress);
  const install = (cluster: ManagementCluster): Promise<void> => installed(cluster, { dataStore: 'etcd' });
  return borrowCluster(sharedManagementCluster({ name: sharedName('steward', owner), owner, progress, install }));
}

async function installed(cluster: ManagementCluster, { dataStore }: StewardClusterOptions): Promise<void> {
  await installSteward(cluster);
  if (dataStore !== undefined) await installDataStore(cluster, dataStore);
}
