import type { ExternalClusters } from './external-clusters.ts';

/** What control planes in other clusters need; the manager has it when the feature gate is on. */
export interface ExternalHosting {
  /** Whether a kubeconfig may be in another namespace than the StewardControlPlane. */
  readonly crossNamespace: boolean;
  readonly clusters: ExternalClusters;
  /** A new proof of a claim: random, 256 bits or more. */
  readonly newProof: () => string;
}
