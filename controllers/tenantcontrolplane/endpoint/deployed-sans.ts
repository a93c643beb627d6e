import type { Secret } from '../../../api/core/kinds.ts';
import type { TenantControlPlane } from '../../../api/steward/v1alpha1/tenant-control-plane.ts';
import { InvalidInputError } from '../../../kubeadm/invalid-input-error.ts';
import { parseCertificates } from '../../../kubeadm/pki/certificate-chain.ts';
import { certificateNames } from '../../../kubeadm/pki/certificate-names.ts';
import type { Endpoint } from '../shared/control-plane-input.ts';
import { leafSecrets } from '../certificates/leaf-secrets.ts';
import type { ServesTls } from './pods-have-san.ts';
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
export function shownNames(
  tcp: TenantControlPlane,
  endpoint: Endpoint,
  secrets: ReadonlyMap<string, Secret>,
  addons: readonly ServesTls[],
): readonly string[] {
  const own = leafSecrets(tcp).map(({ name, keys }) => secretText(secrets.get(name)?.data)[keys.certificate] ?? '');
  const ofAddons = addons.flatMap((addon) => addon.serving?.(tcp, endpoint, secrets) ?? []);
  return [...own, ...ofAddons.map(({ certificate }) => certificate)].flatMap(namesIn);
}
