import type { ManagementCluster } from '../cluster/management-cluster.ts';

/** What a store holds for tenants, as its root user sees it. */
export interface StoreContents {
  readonly keys: readonly string[];
  readonly users: readonly string[];
  readonly roles: readonly string[];
}

const namespace = 'steward-system';

/** Where the manager says up to which revision the etcd was compacted. It is of no tenant, and stays; etcd compacts after five minutes. */
const compactionKey = 'compact_rev_key';

/** Lists what the quick-start etcd holds for tenants by etcdctl, with the client certificate of its root user. */
export async function storeContents(cluster: ManagementCluster): Promise<StoreContents> {
  const secret = await cluster.client.read({ apiVersion: 'v1', kind: 'Secret', namespace, name: 'etcd-certs' });
  // Two of three members make a DataStore Ready; this one may be the third.
  const pod = await cluster.waitFor({ apiVersion: 'v1', kind: 'Pod', namespace, name: 'etcd-0' }, 'Ready');
  const address = pod?.status?.podIP;
  if (typeof address !== 'string') throw new Error('Pod etcd-0 has no address.');
  const files = { cert: '/run/store-witness/tls.crt', key: '/run/store-witness/tls.key' };
  for (const file of Object.values(files)) {
    const value = secret?.data?.[file.slice(file.lastIndexOf('/') + 1)] ?? '';
    await cluster.machine.writeFile(file, Buffer.from(value, 'base64'), '0600');
  }
  // The server's certificate names its DNS name, which the node does not resolve.
  const access = [`--endpoints=https://${address}:2379`, '--insecure-skip-tls-verify'];
  const etcdctl = ['etcdctl', ...access, `--cert=${files.cert}`, `--key=${files.key}`];
  const lines = async (...command: readonly string[]): Promise<readonly string[]> => {
    const { stdout } = await cluster.exec([...etcdctl, ...command]);
    return stdout.split('\n').filter((line) => line !== '');
  };
  return {
    keys: (await lines('get', '', '--from-key', '--keys-only')).filter((key) => key !== compactionKey),
    users: await lines('user', 'list'),
    roles: await lines('role', 'list'),
  };
}
