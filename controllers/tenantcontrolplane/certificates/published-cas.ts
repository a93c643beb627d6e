import { kinds } from '../../../api/core/kinds.ts';
import { InvalidInputError } from '../../../kubeadm/invalid-input-error.ts';
import { parseCertificates } from '../../../kubeadm/pki/certificate-chain.ts';
import type { Cluster } from '../../../runtime/client/cluster.ts';

/** Where kube-controller-manager publishes the CAs that clients in the tenant trust; every namespace has a copy. */
const published = { namespace: 'kube-system', name: 'kube-root-ca.crt' } as const;

function fingerprints(pem: string): ReadonlySet<string> {
  try {
    return new Set(parseCertificates(pem, 'ca.crt').map(({ fingerprint256 }) => fingerprint256));
  } catch (error) {
    if (error instanceof InvalidInputError) return new Set();
    throw error;
  }
}

/** True when new pods in the tenant trust every certificate of the bundle. */
export async function publishes(tenant: Cluster, bundle: string, signal: AbortSignal): Promise<boolean> {
  const found = await tenant.get(kinds.ConfigMap, published, { signal });
  const known = fingerprints(found?.data?.['ca.crt'] ?? '');
  return [...fingerprints(bundle)].every((fingerprint) => known.has(fingerprint));
}
