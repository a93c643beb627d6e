import type { ManagementCluster } from '../cluster/management-cluster.ts';
import { betweenVerifications } from './load/between-verifications.ts';
import { rootEtcdctl } from './root-etcdctl.ts';

/** What a store holds for tenants, as its root user sees it. */
export interface StoreContents {
  readonly keys: readonly string[];
  readonly users: readonly string[];
  readonly roles: readonly string[];
}

/** Where the manager says up to which revision the etcd was compacted. It is of no tenant, and stays; etcd compacts after five minutes. */
const compactionKey = 'compact_rev_key';

/** Lists what the quick-start etcd holds for tenants by etcdctl, with the client certificate of its root user. */
export async function storeContents(cluster: ManagementCluster): Promise<StoreContents> {
  const etcdctl = await rootEtcdctl(cluster);
  const lines = async (...command: readonly string[]): Promise<readonly string[]> => {
    const { stdout } = await cluster.exec([...etcdctl, ...command]);
    return stdout.split('\n').filter((line) => line !== '');
  };
  return betweenVerifications(async () => ({
    keys: (await lines('get', '', '--from-key', '--keys-only')).filter((key) => key !== compactionKey),
    users: await lines('user', 'list'),
    roles: await lines('role', 'list'),
  }));
}
