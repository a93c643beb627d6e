/** An upgrade while a pod of the tenant called the API server all the time. */
export interface MinorUpgrade {
  /** With the leading v. */
  readonly to: string;
  /** From the change of the version until the tenant is Ready at it. */
  readonly seconds: number;
  /** What the pod called from the change of the version on. */
  readonly calls: number;
  readonly failedCalls: number;
}

/** What the newest run of one minor showed. */
export interface MinorResult {
  /** With the leading v. */
  readonly version: string;
  readonly outcome: 'passed' | 'failed';
  /** When it ended, in ISO 8601. */
  readonly date: string;
  /** The commit that ran; ends in `-dirty` when files differed from it. */
  readonly commit: string;
  /** From the request that creates the tenant until it is Ready, its images being on the node; absent when it was never Ready. */
  readonly secondsToReady?: number | undefined;
  /** Absent when there was none, see `noUpgrade`. */
  readonly upgrade?: MinorUpgrade | undefined;
  /** Why there was no upgrade. */
  readonly noUpgrade?: string | undefined;
  /** Of a run that failed: the step, and the first line of its error. */
  readonly error?: string | undefined;
}
