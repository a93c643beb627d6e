import type { ManagementCluster } from '../cluster/management-cluster.ts';

const namespace = 'steward-system';

/** The words that begin a command of etcdctl for the quick-start etcd, as its root user, to be run in the machine of the cluster. */
export async function rootEtcdctl(cluster: ManagementCluster): Promise<readonly string[]> {
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
  return ['etcdctl', ...access, `--cert=${files.cert}`, `--key=${files.key}`];
}
