/** What was asked for is not possible. The message is for a person. */
export class BackupRefusal extends Error {
  override readonly name = 'BackupRefusal';
}
