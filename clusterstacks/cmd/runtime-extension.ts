import { capiExtensionConfig } from '../../api/cluster-api/kinds.ts';
import type { Key } from '../../api/meta.ts';
import { runtimeExtension } from '../controllers/clusteraddon/runtime-extension/runtime-extension.ts';
import type { Clock } from '../../runtime/clock.ts';
import type { Cluster } from '../../runtime/client/cluster.ts';
import { extensionConfigPatch } from '../../runtime/admission/extension-client-config.ts';
import type { JsonCall } from '../../runtime/client/json-call.ts';
import type { FurtherClient } from '../../runtime/server/serving-certificates.ts';
import type { ManagerSettings } from '../../cmd/flags/manager-settings.ts';

/** Name of the ExtensionConfig in config/clusterstacks/runtime-extension; a DNS label, as core wants it. */
export const extensionConfigName = 'steward-clusterstacks';

export interface RuntimeExtensionSetting {
  readonly settings: Pick<ManagerSettings, 'gates' | 'controllers' | 'watchFilter' | 'namespace'>;
  readonly cluster: Cluster;
  readonly clock: Clock;
  /** Enqueues an object for a controller. */
  readonly enqueue: (controller: string, key: Key) => void;
}

/**
 * What the webhook server serves for the hooks of core Cluster API: nothing unless both gates are on and this manager reconciles
 * add-ons.
 */
export function runtimeExtensionParts({ settings, cluster, clock, enqueue }: RuntimeExtensionSetting): {
  readonly calls: Readonly<Record<string, JsonCall>>;
  readonly further: readonly FurtherClient[];
} {
  const { gates, controllers, watchFilter, namespace } = settings;
  if (!gates.clusterStacks || !gates.runtimeSdk || !controllers.has('clusteraddon')) return { calls: {}, further: [] };
  const wake = (addon: Key): void => {
    enqueue('clusteraddon', addon);
  };
  const extension: FurtherClient = {
    kind: capiExtensionConfig,
    name: extensionConfigName,
    patch: (object, client) => extensionConfigPatch(object, client),
  };
  return { calls: runtimeExtension({ cluster, clock, wake, watchFilter, namespace }), further: [extension] };
}
