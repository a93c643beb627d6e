import type { Key } from '../../../../api/meta.ts';
import type { Clock } from '../../../../runtime/clock.ts';
import type { JsonCall } from '../../../../runtime/client/json-call.ts';
import { textOf } from '../../../../runtime/cache/object-id.ts';
import { discoveryAnswer } from './discovery-answer.ts';
import { fieldsOf, hookRequest } from './hook-request.ts';
import type { ServedHook } from './hooks.ts';
import { hookPath, hooksVersion, servedHooks } from './hooks.ts';
import type { KnownClusterParts } from './known-cluster.ts';
import { knownCluster } from './known-cluster.ts';
import { upgradeWaits } from './upgrade-waits.ts';
import { wakesAddon } from './wakes-addon.ts';

export interface RuntimeExtensionParts extends KnownClusterParts {
  readonly clock: Clock;
  /** Enqueues a ClusterAddon. */
  readonly wake: (addon: Required<Key>) => void;
}

/** The delay after which core calls the hook again to find out whether an upgrade may begin. */
const retryAfterSeconds = 10;
/** A ClusterAddon is not enqueued more often than this. */
const betweenWakesMs = 10_000;

/**
 * The handlers of core Cluster API's hooks, by path. The upgrade of a Cluster of a cluster stack waits for its add-ons if
 * its control plane is of another provider; all other calls are answered at once, and at most enqueue the ClusterAddon.
 */
export function runtimeExtension({ clock, wake, ...parts }: RuntimeExtensionParts): Readonly<Record<string, JsonCall>> {
  const wakeSeldom = seldom(clock, wake);
  const answer =
    ({ hook }: ServedHook): JsonCall =>
    async (document, { signal }) => {
      const request = hookRequest(hook, document);
      const known = await knownCluster(parts, request.cluster, signal);
      if (known !== undefined && wakesAddon(hook, known)) wakeSeldom(known.addonKey);
      const waits = hook === 'BeforeClusterUpgrade' ? upgradeWaits(known, request.toVersion) : undefined;
      return answerOf(hook, waits);
    };
  const discover: JsonCall = (document) => {
    fieldsOf(document, 'DiscoveryRequest');
    return discoveryAnswer();
  };
  return {
    [hookPath('Discovery')]: discover,
    ...Object.fromEntries(servedHooks.map((served) => [hookPath(served.hook, served.name), answer(served)])),
  };
}

/** For core, Success with a retry delay means no, and Failure means an error. */
function answerOf(hook: string, waits: string | undefined): Readonly<Record<string, unknown>> {
  const held = waits === undefined ? { retryAfterSeconds: 0 } : { message: waits, retryAfterSeconds };
  return { apiVersion: hooksVersion, kind: `${hook}Response`, status: 'Success', ...held };
}

/** The keys are those of ClusterAddons that exist, and are forgotten when their time is over. */
function seldom(clock: Clock, wake: (addon: Required<Key>) => void): (addon: Required<Key>) => void {
  const wokenAt = new Map<string, number>();
  return (addon) => {
    const now = clock.now().getTime();
    for (const [id, at] of wokenAt) if (now - at >= betweenWakesMs) wokenAt.delete(id);
    if (wokenAt.has(textOf(addon))) return;
    wokenAt.set(textOf(addon), now);
    wake(addon);
  };
}
