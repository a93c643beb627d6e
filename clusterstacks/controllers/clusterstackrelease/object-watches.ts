import { clusterStackLabels } from '../../api/names.ts';
import { apiVersionOf } from '../../../api/meta.ts';
import type { Key, KindRef, Resource } from '../../../api/meta.ts';
import type { InformerFactory } from '../../../runtime/cache/informer-factory.ts';
import type { Informer } from '../../../runtime/cache/informer.ts';

/**
 * Watches on the kinds that releases create, which are known only once a chart was rendered. Only objects with the label of a release are
 * watched, as metadata. Drift enqueues the release, and a reconcile without drift needs no request.
 */
export class ObjectWatches {
  readonly #informers: Pick<InformerFactory, 'informer'>;
  readonly #enqueue: (release: Key) => void;
  readonly #followed = new Map<string, Informer>();

  constructor(informers: Pick<InformerFactory, 'informer'>, enqueue: (release: Key) => void) {
    this.#informers = informers;
    this.#enqueue = enqueue;
  }

  /** From now on, changes of objects of this kind enqueue their releases. */
  follow(kind: KindRef): void {
    const id = identify(kind);
    if (this.#followed.has(id)) return;
    const informer = this.#informers.informer({
      kind,
      labelSelector: clusterStackLabels.release,
      metadataOnly: true,
      optional: true,
    });
    this.#followed.set(id, informer);
    informer.subscribe((old, now) => {
      for (const release of new Set([old, now].flatMap((one) => releaseOf(one)))) {
        const { namespace = '' } = (now ?? old)?.metadata ?? {};
        this.#enqueue({ namespace, name: release });
      }
    });
  }

  /** The object as it was last seen; undefined where its kind is not watched, or nothing has been seen. */
  seen(kind: KindRef, key: Key): Resource | undefined {
    const informer = this.#followed.get(identify(kind));
    return informer?.health().failure === undefined ? informer?.get(key) : undefined;
  }
}

const identify = (kind: KindRef): string => `${apiVersionOf(kind)} ${kind.kind}`;

const releaseOf = (object: Resource | undefined): readonly string[] => {
  const name = object?.metadata.labels?.[clusterStackLabels.release];
  return name === undefined ? [] : [name];
};
