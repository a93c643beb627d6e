import type { EncryptionState } from './encryption-state.ts';

/** Why the encryption in the spec cannot be put in place; what is in place stays. */
export interface EncryptionTrouble {
  readonly reason: 'EncryptionKeyNotFound' | 'EncryptionKeyUnusable';
  readonly message: string;
}

/** The encryption that pods get in this reconcile. */
export interface EncryptionFacts {
  readonly state: EncryptionState;
  /** The checksum of the configuration on pods; absent when nothing is encrypted. */
  readonly checksum?: string | undefined;
  readonly trouble?: EncryptionTrouble | undefined;
}
