import { toDo } from './remedy.ts';

/** What to do about encryption keys, for the conditions of several phases. */
export const encryptionRemedies = {
  EncryptionKeyNotFound: toDo(
    'Create the Secret that the message names, with 32 random bytes in base64 under the key, or name one that exists in spec.kubernetes.encryption.keySecret.',
    'kubectl -n <namespace> get secrets',
  ),
  EncryptionKeyUnusable: toDo('Correct the Secret, the plugin or spec.kubernetes.encryption as the message says.'),
  EncryptionKeysLost: toDo(
    'Restore the Secret that the message names from a backup. Without its keys, encrypted data cannot be read again once the pods are gone.',
    'kubectl -n <namespace> get secret <name>-encryption',
  ),
} as const;
