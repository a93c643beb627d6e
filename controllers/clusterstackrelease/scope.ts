import type { AppliedResource } from '../../api/clusterstack/applied-resource.ts';
import type { ClusterStackRelease } from '../../api/clusterstack/cluster-stack-release.ts';
import type { SourceAddress } from '../../stacks/asset-store.ts';
import type { ReleaseAssets } from '../../stacks/release-assets.ts';
import type { ReadName } from '../../stacks/release-name.ts';

/** What one visit of a release knows and finds out. */
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
