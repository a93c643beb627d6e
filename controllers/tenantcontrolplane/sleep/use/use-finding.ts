/** What was found out about the use of a control plane. */
export interface UseFinding {
  readonly state: 'InUse' | 'Idle' | 'Unknown';
  /** When the state began; of Idle, the last use. */
  readonly since: Date;
  /** Identifies the pods and their counters, while it is idle. */
  readonly counters?: string;
  /** Why it is unknown. */
  readonly message?: string;
  /** From the last use to the last reading, while it is idle; 0 otherwise. In milliseconds. */
  readonly unusedMs: number;
  /** True if that reading was a moment ago, and of all pods that ran then: only then may it fall asleep. */
  readonly isProven: boolean;
}
