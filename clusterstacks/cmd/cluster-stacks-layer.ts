import { join } from 'node:path';
import { clusterStackOperatorLease } from '../api/names.ts';
import type { Controller, Watch } from '../../runtime/reconcile/controller.ts';
import { ForeignLease } from '../../runtime/leader/foreign-lease.ts';
import type { InformerFactory } from '../../runtime/cache/informer-factory.ts';
import type { Logger } from '../../runtime/observe/logger.ts';
import type { Manager } from '../../runtime/reconcile/manager.ts';
import { keyOf } from '../../runtime/cache/object-id.ts';
import { HelmRenderer } from '../helm/helm-renderer.ts';
import { apiServersOf } from '../../cmd/api-servers-of.ts';
import { assetStore } from './asset-store.ts';
import { clusterAddonControllers } from './cluster-addon-controllers.ts';
import { clusterStackControllers } from './cluster-stack-controllers.ts';
import { clusterStackSource } from './cluster-stack-source.ts';
import type { Closing } from '../../cmd/closing.ts';
import type { Shared } from '../../cmd/controllers.ts';
import type { ManagerSettings } from '../../cmd/flags/manager-settings.ts';
import { OptionalLayer } from '../../cmd/optional-layer.ts';
import { restingController } from '../../cmd/gated-controller.ts';

/** What the layer is made of. */
export interface LayerParts {
  readonly shared: Pick<Shared, 'cluster' | 'informers' | 'clock' | 'memory' | 'pool' | 'enqueue'>;
  /** Of all namespaces, also where `shared` follows one only. */
  readonly everywhere: Pick<InformerFactory, 'informer'>;
  readonly log: Logger;
  readonly closing: Closing;
  /** Watches of controllers outside of the layer that need its definitions and rights, by controller. */
  readonly layerWatches: readonly (readonly [controller: string, watch: Watch])[];
  readonly manager: (controllers: readonly Controller[], log: Logger) => Manager;
  readonly webhookTrouble: () => string | undefined;
}

const name = 'cluster-stacks';

/** The optional layer of cluster stacks; undefined when its feature gate is off, or none of its controllers is chosen. */
export function clusterStacksLayer(settings: ManagerSettings, parts: LayerParts): OptionalLayer | undefined {
  const chosen: ReadonlySet<string> = settings.controllers;
  const why = (): string | undefined =>
    rival.holder === undefined
      ? undefined
      : `the cluster-stack-operator ${rival.holder} reconciles cluster stacks here: only one of the two may run, and this object is paused until the other one is gone`;
  const controllers = (settings.gates.clusterStacks ? controllersOf(settings, parts.shared) : [])
    .filter((controller) => chosen.has(controller.name))
    .map((controller) => restingController(controller, why));
  if (controllers.length === 0) return undefined;
  const { shared, everywhere, closing, layerWatches, webhookTrouble } = parts;
  const { clock, informers, enqueue } = shared;
  const log = parts.log.with({ layer: name });
  const rival: ForeignLease = closing.add(
    new ForeignLease({
      informers: everywhere,
      clock,
      name: clusterStackOperatorLease,
      changed: () => {
        log.warn(why() ?? 'the cluster-stack-operator is gone: cluster stacks are reconciled again');
        for (const { name: controller, kind, optional } of controllers) {
          for (const object of informers.informer({ kind, optional }).list()) enqueue(controller, keyOf(object));
        }
      },
    }),
    (lease) => {
      lease.close();
    },
  );
  for (const [controller, watch] of layerWatches) {
    // The kind may be absent for the other controller, but not for those of the layer.
    informers.informer({ kind: watch.kind }).subscribe((old, now) => {
      for (const key of watch.keys(old, now)) enqueue(controller, key);
    });
  }
  const manager = parts.manager(controllers, log);
  return new OptionalLayer({ name, manager, rival, webhookTrouble, log });
}

/** Controllers with releases fetched over the network and rendered by helm. */
function controllersOf(
  { environment, kubeconfig, stacks, watchFilter }: ManagerSettings,
  shared: LayerParts['shared'],
): readonly Controller[] {
  const { PATH: searchPath } = environment;
  const parts = {
    ...{ ...shared, watchFilter },
    assets: assetStore(join(stacks.cache, 'releases'), shared.clock, apiServersOf(kubeconfig, environment)),
    renderer: new HelmRenderer({ program: stacks.helm, scratch: join(stacks.cache, 'helm'), searchPath }),
    source: clusterStackSource(environment, stacks.folder),
  };
  return [...clusterStackControllers({ ...parts, furtherKinds: stacks.kinds }), ...clusterAddonControllers(parts)];
}
