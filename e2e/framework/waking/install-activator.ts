import type { PlainObject } from '../../cluster/kubernetes-client.ts';
import type { ManagementCluster } from '../../cluster/management-cluster.ts';
import { kustomize } from '../install-steward.ts';

const namespace = 'steward-system';

/** The activator's Deployment in `config/activator`, and what its pods are selected by. */
export const activatorDeployment = { apiVersion: 'apps/v1', kind: 'Deployment', namespace, name: 'steward-activator' };
export const activatorSelector = 'app.kubernetes.io/component=activator';

/** Installs the activator from `config/activator`; resolves when both of its pods are ready. */
export async function installActivator(cluster: ManagementCluster): Promise<void> {
  await cluster.apply(await kustomize('config/activator'));
  const isReady = (object: PlainObject | undefined): boolean => object?.status?.readyReplicas === 2;
  await cluster.waitFor(activatorDeployment, isReady, {
    ...{ timeoutMs: 120_000, what: 'two ready pods' },
    diagnose: () => cluster.diagnose(namespace),
  });
}
