import { described, oneOf } from '../schema.ts';

/** Key algorithms of certificates, with the values of `encryptionAlgorithm` in kubeadm.k8s.io/v1beta4. */
export const encryptionAlgorithm = described(
  oneOf('ECDSA-P256', 'ECDSA-P384', 'RSA-2048', 'RSA-3072', 'RSA-4096'),
  'Algorithm of new certificate keys. Defaults to ECDSA-P256. Existing keys stay as they are.',
);
