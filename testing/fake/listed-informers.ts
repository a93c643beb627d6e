import type { Key, Resource } from '../../api/meta.ts';
import type { Informer } from '../../runtime/cache/informer.ts';
import type { InformerFactory } from '../../runtime/cache/informer-factory.ts';
import { emptyInformers } from './empty-informers.ts';

/** Informers that know what a test lists at the moment, by kind, and nothing else. */
export function listedInformers(
  lists: Readonly<Record<string, () => readonly Resource[]>>,
): Pick<InformerFactory, 'informer'> {
  return {
    informer: <T extends Resource>(selection: Parameters<InformerFactory['informer']>[0]): Informer<T> => {
      const list = lists[selection.kind.kind] ?? (() => []);
      const informer: Informer = {
        ...emptyInformers.informer(selection),
        list,
        get: ({ namespace, name }: Key) =>
          list().find(({ metadata }) => metadata.name === name && metadata.namespace === namespace),
      };
      return informer as Informer<T>;
    },
  };
}
