import type { Secret } from '../../../api/core/kinds.ts';
import type { TenantControlPlane } from '../../../api/steward/v1alpha1/tenant-control-plane.ts';
import { InvalidInputError } from '../../../kubeadm/invalid-input-error.ts';
import { parseCertificates } from '../../../kubeadm/pki/certificate-chain.ts';
import { certificateNames } from '../../../kubeadm/pki/certificate-names.ts';
import { leafSecrets } from '../certificates/leaf-secrets.ts';
import { secretText } from '../shared/secret.ts';

function namesIn(pem: string): readonly string[] {
  try {
    return [...certificateNames(parseCertificates(pem, 'certificate')[0])];
  } catch (error) {
    if (error instanceof InvalidInputError) return [];
    throw error;
  }
}

/** All names and addresses in the stored serving certificates of the pods, including those of previous endpoints. */
export function shownNames(tcp: TenantControlPlane, secrets: ReadonlyMap<string, Secret>): readonly string[] {
  return leafSecrets(tcp).flatMap(({ name, keys }) =>
    namesIn(secretText(secrets.get(name)?.data)[keys.certificate] ?? ''),
  );
}
