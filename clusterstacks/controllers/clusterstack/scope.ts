import type { ClusterStackRelease } from '../../api/cluster-stack-release.ts';
import type { ClusterStack } from '../../api/cluster-stack.ts';
import type { SourceAddress } from '../../sources/asset-store.ts';
import type { ReleaseVersion } from '../../sources/release-version.ts';
import type { Plan } from './plan.ts';

/** What one reconcile knows and finds out. */
export interface Scope {
  readonly stack: ClusterStack;
  /** Releases that this stack owns. */
  readonly owned: readonly ClusterStackRelease[];
  /** Releases of this namespace that Clusters use, as far as seen. */
  readonly inUse: ReadonlySet<string>;
  readonly address?: SourceAddress;
  readonly latest?: ReleaseVersion | 'unknown' | 'none';
  /** True while a newer one than `latest` may be among releases that were not read yet. */
  readonly isPartial?: boolean;
  readonly plan?: Plan;
  /** The releases that are there at the end. */
  readonly releases?: readonly ClusterStackRelease[];
}
