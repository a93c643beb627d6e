import type { InformerFactory } from '../../runtime/cache/informer-factory.ts';

/** Informers that are always empty, so that every reconcile sends all objects. */
export const emptyInformers: Pick<InformerFactory, 'informer'> = {
  informer: ({ kind }) => ({
    kind,
    get: () => undefined,
    list: () => [],
    byIndex: () => [],
    addIndex: () => undefined,
    subscribe: () => () => undefined,
    synced: Promise.resolve(),
    health: () => ({
      synced: true,
      absent: false,
      objects: 0,
      lastEvent: undefined,
      failingSince: undefined,
      failure: undefined,
    }),
    lookAgain: () => undefined,
    close: () => Promise.resolve(),
  }),
};
