import type { Secret } from '../core/kinds.ts';
import { controlPlaneGroup, labels, stewardGroup } from '../names.ts';
import { clusterNameLabel, clusterSecretType } from './names.ts';

/** What a user may supply before the control plane is created: the CA, the front-proxy CA, the service-account key. */
export type SuppliedPurpose = 'ca' | 'proxy' | 'sa';

/**
 * Name of the Secret according to Cluster API (https://cluster-api.sigs.k8s.io/tasks/certs/using-custom-certificates).
 */
export const suppliedSecretName = (cluster: string, purpose: SuppliedPurpose): string => `${cluster}-${purpose}`;

/** Keys in the data of the Secret. For the service-account key, the first one holds the public key. */
export const suppliedKeys = { certificate: 'tls.crt', key: 'tls.key' } as const;

/** Accepted Secret types: that of Secrets of Cluster API itself, and that in its documentation. */
export const suppliedSecretTypes: readonly string[] = [clusterSecretType, 'kubernetes.io/tls'];

/**
 * True if the Secret was supplied by a user for this Cluster. The name alone is not sufficient, since it is derived
 * from the name of the Cluster: the Secret must have the label of the Cluster and must not have been created by
 * Steward.
 */
export function isSuppliedFor(secret: Secret | undefined, cluster: string): secret is Secret {
  if (secret === undefined) return false;
  const { labels: carried = {}, ownerReferences = [] } = secret.metadata;
  if (carried[clusterNameLabel] !== cluster || carried[labels.component] !== undefined) return false;
  const groups = [controlPlaneGroup, stewardGroup];
  return !ownerReferences.some(({ apiVersion }) => groups.includes(apiVersion.split('/')[0] ?? ''));
}
