import type { KindRef, Manifest, Resource } from '../../api/meta.ts';

/** The wanted objects of one component of one owner. Objects that are no longer in the set are pruned. */
export interface ApplySet {
  /** Pruning is restricted to objects with this owner's uid in a label or owner reference. */
  readonly owner: Resource;
  /** Lower-case name of the component; with the owner it identifies the set. */
  readonly component: string;
  readonly manifests: readonly Manifest[];
  /** Objects of the set that are there and are left as they are: not sent, and not pruned. */
  readonly kept?: readonly Manifest[];
  /** Kinds that may hold objects of this set which are no longer wanted. */
  readonly prunes: readonly KindRef[];
}

export interface ApplyReport {
  readonly applied: readonly Resource[];
  /** Objects that were read and already were what would have been applied. */
  readonly found: readonly Resource[];
  /** Objects whose stored state differed from the last one we applied although our manifest did not change. */
  readonly drifted: readonly Resource[];
  readonly pruned: readonly Resource[];
  /** Objects that were not sent, because neither manifest nor object had changed. */
  readonly unchanged: number;
}
