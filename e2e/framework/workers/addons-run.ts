import type { KubernetesClient, WaitOptions } from '../../cluster/kubernetes-client.ts';
import { minutes } from '../minutes.ts';

/** Waits until CoreDNS of a tenant runs, and kube-proxy and the konnectivity agent on each of its workers: one, unless said. */
export async function addonsRun(
  tenant: KubernetesClient,
  { workers = 1, ...options }: WaitOptions & { readonly workers?: number } = {},
): Promise<void> {
  const inSystem = { apiVersion: 'apps/v1', namespace: 'kube-system' };
  const waiting = { timeoutMs: 3 * minutes, ...options };
  await tenant.waitFor({ ...inSystem, kind: 'Deployment', name: 'coredns' }, 'Available', waiting);
  for (const name of ['kube-proxy', 'konnectivity-agent']) {
    await tenant.waitFor(
      { ...inSystem, kind: 'DaemonSet', name },
      (object) => object?.status?.numberReady === workers,
      { ...waiting, what: `a ready pod on each of ${workers} workers` },
    );
  }
}
