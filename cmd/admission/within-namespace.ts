import type { Resource } from '../../api/meta.ts';
import type { InformerFactory } from '../../runtime/cache/informer-factory.ts';
import type { Informer, InformerSelection } from '../../runtime/cache/informer.ts';

/**
 * The same informers, of one namespace only where the kind has namespaces and the selection names none; all of them when none is
 * given.
 */
export function withinNamespace(
  informers: Pick<InformerFactory, 'informer'>,
  namespace: string,
): Pick<InformerFactory, 'informer'> {
  if (namespace === '') return informers;
  return {
    informer: <T extends Resource>(selection: InformerSelection<T>): Informer<T> =>
      informers.informer(
        selection.kind.namespaced ? { ...selection, namespace: selection.namespace ?? namespace } : selection,
      ),
  };
}
