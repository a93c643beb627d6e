import { activatorObjects } from '../../../api/names.ts';
import type { ManagementCluster } from '../../../e2e/cluster/management-cluster.ts';
import { activatorDeployment } from '../../../e2e/framework/waking/install-activator.ts';
import { pauseUnlessOver } from '../../pause-unless-over.ts';
import type { ActivatorPods } from '../activator-pods.ts';
import type { ActivatorMemory } from '../wake-rows.ts';

const everyMs = 1000;

/** Looks once a second at what activators hold and request. */
export class AttackWatch implements AsyncDisposable {
  readonly #cluster: ManagementCluster;
  readonly #activators: ActivatorPods;
  readonly #namespace: string;
  readonly #over = new AbortController();
  readonly #watching: Promise<void>;
  #peak: ActivatorMemory = {};
  readonly #requested = new Set<string>();

  /** @param namespace of the tenants whose wakes are requested. */
  constructor(cluster: ManagementCluster, activators: ActivatorPods, namespace: string) {
    this.#cluster = cluster;
    this.#activators = activators;
    this.#namespace = namespace;
    this.#watching = this.#watch();
    // Who ends it hears of it.
    this.#watching.catch(() => undefined);
  }

  /** The most that each activator held since the begin, or since this was called last. */
  takePeak(): ActivatorMemory {
    const peak = this.#peak;
    this.#peak = {};
    return peak;
  }

  /** Tenants for which a wake was requested since the begin, or since this was called last. */
  takeRequested(): readonly string[] {
    const requested = [...this.#requested];
    this.#requested.clear();
    return requested;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#over.abort();
    await this.#watching;
  }

  async #watch(): Promise<void> {
    while (!this.#over.signal.aborted) {
      const memory = await this.#activators.memory();
      this.#peak = Object.fromEntries(
        Object.entries(memory).map(([name, { pssMiB, ownMiB }]) => {
          const peak = this.#peak[name] ?? { pssMiB: 0, ownMiB: 0 };
          return [name, { pssMiB: Math.max(pssMiB, peak.pssMiB), ownMiB: Math.max(ownMiB, peak.ownMiB) }];
        }),
      );
      for (const entry of await this.#requests()) this.#requested.add(entry);
      await pauseUnlessOver(everyMs, this.#over.signal);
    }
  }

  async #requests(): Promise<readonly string[]> {
    const { namespace } = activatorDeployment;
    const address = { apiVersion: 'v1', kind: 'ConfigMap', namespace, name: activatorObjects.wakeRequests };
    const entries = Object.keys((await this.#cluster.client.read(address))?.data ?? {});
    return entries.filter((entry) => entry.startsWith(`${this.#namespace}.`));
  }
}
