import { join } from 'node:path';
import { ObjectMemory } from '../../../runtime/cache/object-memory.ts';
import { assetStore } from '../../../clusterstacks/cmd/asset-store.ts';
import { clusterStackControllers } from '../../../clusterstacks/cmd/cluster-stack-controllers.ts';
import { systemClock } from '../../../runtime/clock.ts';
import { EventRecorder } from '../../../runtime/observe/event-recorder.ts';
import { InformerFactory } from '../../../runtime/cache/informer-factory.ts';
import { silent } from '../../../runtime/observe/logger.ts';
import { Manager } from '../../../runtime/reconcile/manager.ts';
import type { Renderer } from '../../../clusterstacks/sources/renderer.ts';
import { adminOf } from '../external-management.ts';
import type { ApiServerAccess } from '../../servers/api-server.ts';

/**
 * Starts the controllers that make ClusterClasses of ClusterStacks, with the store of releases that a manager has and the rights of
 * an administrator.
 * @param folder for the releases that it fetches.
 */
export async function startStackManager(
  access: ApiServerAccess,
  { renderer, folder }: { readonly renderer: Renderer; readonly folder: string },
): Promise<AsyncDisposable> {
  const cluster = adminOf(access);
  const parts = { cluster, clock: systemClock, log: silent };
  const informers = new InformerFactory(parts);
  const memory = new ObjectMemory();
  const controllers = clusterStackControllers({
    memory,
    ...{ cluster, informers, renderer, source: {}, watchFilter: '', furtherKinds: new Set<string>() },
    assets: assetStore(join(folder, 'cache'), systemClock),
    enqueue: (controller, key) => {
      manager.enqueue(controller, key);
    },
  });
  const events = new EventRecorder({ memory, ...parts, controller: 'test', instance: 'test' });
  const manager = new Manager({ memory, ...parts, controllers, informers, events });
  await manager.start();
  return {
    async [Symbol.asyncDispose]() {
      await manager.stop(2000);
      await informers.close();
      await cluster.close();
    },
  };
}
