import { clusterStackFieldManager } from '../../../api/names.ts';
import { ownerReferenceOf, type Resource } from '../../../../api/meta.ts';
import type { Outcome, Phase } from '../../../../runtime/reconcile/phases.ts';
import type { Dependencies } from '../dependencies.ts';
import type { ObjectWatches } from '../object-watches.ts';
import type { Scope } from '../scope.ts';

const lookAgainMs = 60_000;

interface ProviderRelease extends Resource {
  readonly status?: { readonly ready?: boolean };
}

/** Waits until the provider's object of the release says `status.ready`, and makes the release its owner. */
export const providerPhase = ({ cluster, discovery }: Dependencies, watches: ObjectWatches): Phase<Scope> => ({
  name: 'provider',
  condition: 'ProviderClusterStackReleaseReady',
  async run({ release, namespace }, { signal }): Promise<Outcome<Scope>> {
    const { providerRef } = release.spec;
    if (providerRef === undefined) return { is: 'done', message: 'the stack has no provider' };
    const { apiVersion = '', kind: named = '', name = '' } = providerRef;
    const missing = (why: string): Outcome<Scope> => ({
      is: 'waiting',
      reason: 'ProviderObjectNotFound',
      message: `spec.providerRef names ${named} ${name} of ${apiVersion}: ${why}`,
      afterMs: lookAgainMs,
    });
    const kind = await discovery.find(apiVersion, named, { signal });
    if (kind === undefined) return missing('this kind is not installed; install the provider');
    watches.follow(kind);
    const object = await cluster.get(kind, { namespace, name }, { signal });
    if (object === undefined) return missing('it does not exist yet; its ClusterStack creates it');
    const owners = object.metadata.ownerReferences ?? [];
    if (!owners.some(({ uid }) => uid === release.metadata.uid)) {
      const { resourceVersion } = object.metadata;
      const body = { metadata: { ownerReferences: [...owners, ownerReferenceOf(release)], resourceVersion } };
      const options = { fieldManager: clusterStackFieldManager, signal };
      await cluster.patch(kind, { namespace, name }, { type: 'merge', body }, options);
    }
    if ((object as ProviderRelease).status?.ready === true) return { is: 'done' };
    const message = `${named} ${name} is not ready yet: see its status`;
    return { is: 'waiting', reason: 'ProcessOngoing', message, afterMs: lookAgainMs };
  },
});
