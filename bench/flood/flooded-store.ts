import type { ManagementCluster } from '../../e2e/cluster/management-cluster.ts';
import type { Progress } from '../../e2e/cluster/machines/supplies.ts';
import { openHowTo } from '../../e2e/framework/how-to-page.ts';
import { storeTrials } from '../../e2e/framework/store-trials.ts';
import { storeImageArchive } from '../../e2e/tools/store-images.ts';
import type { FloodStore } from './flood-rows.ts';

/** A quick-start datastore while it is needed. */
export interface FloodedStore extends AsyncDisposable {
  /** Name of its DataStore. */
  readonly dataStore: string;
}

/** Installs a quick-start datastore as its page says, except etcd, which is there; disposing of it removes it as the page says. */
export async function openFloodedStore(
  cluster: ManagementCluster,
  store: FloodStore,
  progress: Progress,
): Promise<FloodedStore> {
  const trial = storeTrials.find((one) => one.store === store);
  if (trial === undefined) throw new Error(`There is no quick start of ${store}.`);
  const { dataStore, image, page: pageName } = trial;
  if (image === undefined) return { dataStore, [Symbol.asyncDispose]: () => Promise.resolve() };
  const archive = await storeImageArchive(image, {
    progress: (line) => {
      progress(store, line);
    },
  });
  await cluster.loadImage(archive.path);
  const page = await openHowTo(cluster, pageName);
  await page.run('Quick start');
  return {
    dataStore,
    [Symbol.asyncDispose]: async () => {
      await page.run('Remove it');
    },
  };
}
