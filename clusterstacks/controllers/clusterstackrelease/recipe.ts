import type { ObjectSlot } from '../../../runtime/cache/object-slot.ts';
import type { Phase } from '../../../runtime/reconcile/phases.ts';
import { definePhases } from '../../../runtime/reconcile/run-phases.ts';
import type { Dependencies } from './dependencies.ts';
import { MovedTags } from './moved-tags.ts';
import type { ObjectWatches } from './object-watches.ts';
import { assetsPhase } from './phases/assets.ts';
import { objectsPhase } from './phases/objects.ts';
import { providerPhase } from './phases/provider.ts';
import { sourcePhase } from './phases/source.ts';
import { RenderedReleases } from './rendered-releases.ts';
import type { Scope } from './scope.ts';

/** All phases of a ClusterStackRelease. `unpinned` are the UIDs of releases of which the API server does not keep the digest. */
export function clusterStackReleasePhases(
  deps: Dependencies,
  { watches, unpinned }: { readonly watches: ObjectWatches; readonly unpinned: Pick<ObjectSlot<true>, 'has'> },
): readonly Phase<Scope>[] {
  return definePhases<Scope>([
    sourcePhase(deps),
    assetsPhase(deps, new MovedTags(deps.assets, deps.memory)),
    providerPhase(deps, watches),
    objectsPhase(deps, { watches, rendered: new RenderedReleases(deps.memory), unpinned }),
  ]);
}
