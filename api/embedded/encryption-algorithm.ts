import { described, oneOf } from '../schema.ts';

/** Key algorithms of certificates, in kubeadm's words (kubeadm.k8s.io/v1beta4, `encryptionAlgorithm`). */
export const encryptionAlgorithm = described(
  oneOf('ECDSA-P256', 'ECDSA-P384', 'RSA-2048', 'RSA-3072', 'RSA-4096'),
  'Algorithm of the keys that are made for certificates; ECDSA-P256 when empty. Existing keys are kept.',
);
