/** One claim of a prepared control plane. */
export interface ClaimTimes {
  /** Milliseconds from sending the claim until its kubeconfig could be read. */
  readonly kubeconfigMs: number;
  /** Until the first `/readyz` was answered with 200, with that kubeconfig. */
  readonly readyzMs: number;
}

/** What the control planes of all claims have in common, of their private keys. */
export interface ComparedKeys {
  readonly controlPlanes: number;
  readonly keys: number;
  /** Keys that more than one control plane has. */
  readonly shared: number;
}

/** What one control plane takes that nobody has claimed; averages over those in reserve. */
export interface IdleUsage {
  readonly controlPlanes: number;
  readonly seconds: number;
  readonly rssMiB: number;
  readonly anonymousMiB: number;
  readonly milliCpu: number;
}

/** What `instant` measures. */
export interface InstantRow {
  readonly version: string;
  /** Control planes that the pool holds. */
  readonly reserve: number;
  readonly claims: readonly ClaimTimes[];
  readonly keys: ComparedKeys;
  readonly idle: IdleUsage;
  /** Milliseconds until the first `/readyz` of the same control plane without a pool. */
  readonly floorMs: readonly number[];
}

/** What a claim may take at most, at the 99th percentile. */
export const mostClaimMs = 1000;
