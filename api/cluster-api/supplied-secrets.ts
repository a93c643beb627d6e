import type { Secret } from '../core/kinds.ts';
import { controlPlaneGroup, labels, stewardGroup } from '../names.ts';
import { clusterNameLabel, clusterSecretType } from './names.ts';

/** What the author of a Cluster may supply before its control plane is made: the CA, the front-proxy CA, the keys of tokens. */
export type SuppliedPurpose = 'ca' | 'proxy' | 'sa';

/** The name at which Cluster API has it looked for (https://cluster-api.sigs.k8s.io/tasks/certs/using-custom-certificates). */
export const suppliedSecretName = (cluster: string, purpose: SuppliedPurpose): string => `${cluster}-${purpose}`;

/** The keys under which it is; of token keys the first one holds the public half. */
export const suppliedKeys = { certificate: 'tls.crt', key: 'tls.key' } as const;

/** Types that it may have: that of Cluster API's own Secrets, and that of its handbook. */
export const suppliedSecretTypes: readonly string[] = [clusterSecretType, 'kubernetes.io/tls'];

/**
 * True when somebody made the Secret for this Cluster. The name alone says nothing, since it is put together of the Cluster's: the
 * label does, and that it is none which Steward made.
 */
export function isSuppliedFor(secret: Secret | undefined, cluster: string): secret is Secret {
  if (secret === undefined) return false;
  const { labels: carried = {}, ownerReferences = [] } = secret.metadata;
  if (carried[clusterNameLabel] !== cluster || carried[labels.component] !== undefined) return false;
  const groups = [controlPlaneGroup, stewardGroup];
  return !ownerReferences.some(({ apiVersion }) => groups.includes(apiVersion.split('/')[0] ?? ''));
}
