import type { AppliedResource } from '../../api/applied-resource.ts';
import type { ClusterStackRelease } from '../../api/cluster-stack-release.ts';
import type { SourceAddress } from '../../sources/asset-store.ts';
import type { ReleaseAssets } from '../../sources/release-assets.ts';
import type { ReadName } from '../../sources/release-name.ts';

/** What one reconcile of a release knows and finds out. */
export interface Scope {
  readonly release: ClusterStackRelease;
  readonly name: string;
  readonly namespace: string;
  /** The parts of its name; undefined when it follows no convention. */
  readonly parts: ReadName | undefined;
  /** Takes what became of each object, also of those that were refused. */
  readonly note: (resources: readonly AppliedResource[]) => void;
  readonly address?: SourceAddress;
  readonly assets?: ReleaseAssets;
}
