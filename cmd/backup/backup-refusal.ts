/** The request cannot be fulfilled. The message is for a person. */
export class BackupRefusal extends Error {
  override readonly name = 'BackupRefusal';
}
