/**
 * How the engine has the tenant frozen: its API server takes no more writes of its users. That makes the cut a clean one for
 * people; what still gets past it is stopped by the fence in the store, which alone decides that no write is lost.
 */
export interface FreezeHandshake {
  /**
   * Asks for the freeze and resolves once it is in force; the engine goes on copying meanwhile. Rejects with the signal's
   * reason. May be called again, also in a new process.
   */
  request(signal: AbortSignal): Promise<void>;
  /**
   * Says that the freeze is not needed now: the migration is rolled back, or the last step is put off. Not called after Done:
   * then the caller lifts the freeze when the tenant runs on the target. May be called when there is none.
   */
  release(): Promise<void>;
}
