import { stringify } from 'yaml';

import { addRoute } from '../../cluster/network/links.ts';
import { ignoredPreflightErrors } from '../../cluster/kubeadm-documents.ts';
import type { ManagementCluster } from '../../cluster/management-cluster.ts';
import { startWorker } from '../../cluster/worker.ts';
import type { Worker } from '../../cluster/worker.ts';

/**
 * Lets another machine join the management cluster itself, so that a control plane's pods can stand on two nodes. Resolves
 * when its node is Ready and each node's pods reach the other's.
 */
export async function joinSecondNode(cluster: ManagementCluster, name: string): Promise<Worker> {
  const { stdout } = await cluster.exec(['kubeadm', 'token', 'create', '--ttl', '1h']);
  const worker = await startWorker({ harness: cluster.harness, name });
  await worker.join(
    stringify({
      apiVersion: 'kubeadm.k8s.io/v1beta4',
      kind: 'JoinConfiguration',
      discovery: {
        bootstrapToken: {
          apiServerEndpoint: `${cluster.address}:6443`,
          token: stdout.trim(),
          unsafeSkipCAVerification: true,
        },
      },
      nodeRegistration: {
        name,
        criSocket: 'unix:///run/containerd/containerd.sock',
        ignorePreflightErrors: ignoredPreflightErrors,
        imagePullPolicy: 'Never',
        kubeletExtraArgs: [{ name: 'node-ip', value: worker.address }],
      },
    }),
  );
  const node = { apiVersion: 'v1', kind: 'Node', name };
  const range = (object: { spec?: Record<string, unknown> } | undefined): string => {
    const given = object?.spec?.podCIDR;
    return typeof given === 'string' ? given : '';
  };
  const found = await cluster.waitFor(node, (object) => range(object) !== '', { what: 'a range for its pods' });
  await worker.usePodCidrs([range(found)]);
  const { init } = worker.machine;
  const first = cluster.network.pods.replace(/\/\d+$/, '/24');
  await addRoute(range(found), worker.address);
  await addRoute(range(found), worker.address, cluster.machine.init);
  await addRoute(first, cluster.address, init);
  await cluster.waitFor(node, 'Ready', { diagnose: () => worker.machine.lastWords() });
  return worker;
}
