import type { ManagementCluster } from '../../e2e/cluster/management-cluster.ts';
import { rootEtcdctl } from '../../e2e/framework/root-etcdctl.ts';

/** What etcd says of itself. */
export interface EtcdState {
  /** Alarms that are raised. */
  readonly alarms: readonly string[];
  /** Size of its file. */
  readonly fileMiB: number;
}

/** Asks the first member. */
export async function etcdState(cluster: ManagementCluster): Promise<EtcdState> {
  const etcdctl = await rootEtcdctl(cluster);
  const { stdout: alarms } = await cluster.exec([...etcdctl, 'alarm', 'list']);
  const { stdout: members } = await cluster.exec([...etcdctl, 'endpoint', 'status', '--write-out=json']);
  const [member] = JSON.parse(members) as readonly { readonly Status: { readonly dbSize: number } }[];
  return {
    alarms: alarms.split('\n').filter((line) => line !== ''),
    fileMiB: Math.round((member?.Status.dbSize ?? 0) / 2 ** 20),
  };
}
