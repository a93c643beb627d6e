/**
 * How the engine makes the tenant read-only: its API servers refuse the writes of its users, or do not run. That gives users a clear
 * error; any write that still gets through is stopped by the fence in the datastore, which alone guarantees that no write is lost.
 */
export interface ReadOnlyHandshake {
  /**
   * Requests read-only mode and resolves once it is in force; the engine continues to copy meanwhile. Rejects with the signal's reason.
   * May be called again, also in a new process.
   */
  request(signal: AbortSignal): Promise<void>;
  /**
   * Ends read-only mode, because the migration is rolled back or the last step is postponed. Not called after Done: then the caller ends it
   * when the tenant runs on the target. May be called when the tenant is not read-only.
   */
  release(): Promise<void>;
}
