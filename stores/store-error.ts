/** Why a store could not be used; each is a condition reason. */
export type StoreErrorReason =
  | 'Unreachable'
  | 'Unauthorized'
  | 'Unsupported'
  | 'CredentialsMissing'
  | 'CredentialsInvalid'
  | 'OwnedByAnother'
  | 'InvalidName'
  | 'SingleTenant'
  | 'Failed';

/** A datastore's failure, described for a person; the protocol's own error is the cause. Never contains a secret. */
export class StoreError extends Error {
  override readonly name = 'StoreError';
  readonly reason: StoreErrorReason;
  constructor(reason: StoreErrorReason, message: string, options?: ErrorOptions) {
    super(message, options);
    this.reason = reason;
  }
}
