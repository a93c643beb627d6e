import type { InformerFactory } from '../../runtime/cache/informer-factory.ts';

/** Informers that never know anything: whoever asks them sends what it wants on every visit. */
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
