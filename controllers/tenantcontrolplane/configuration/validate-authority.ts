import { InvalidInputError } from '../../../kubeadm/invalid-input-error.ts';
import type { InvalidInput } from '../../../kubeadm/invalid-input-error.ts';
import { parseCertificates } from '../../../kubeadm/pki/certificate-chain.ts';

/** The validation error of a field with CA certificates; none if it is absent. */
export function validateAuthority(field: string, pem: string | undefined): readonly InvalidInput[] {
  if (pem === undefined) return [];
  try {
    parseCertificates(pem, field);
    return [];
  } catch (error) {
    if (error instanceof InvalidInputError) return [error.input];
    throw error;
  }
}
