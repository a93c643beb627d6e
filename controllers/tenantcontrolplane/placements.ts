import type { Key } from '../../api/meta.ts';
import { dataStore } from '../../api/steward/v1alpha1/data-store.ts';
import type { DataStore } from '../../api/steward/v1alpha1/data-store.ts';
import { dataStoresOf } from '../../api/steward/v1alpha1/data-stores-of.ts';
import { tenantControlPlane } from '../../api/steward/v1alpha1/tenant-control-plane.ts';
import type { TenantControlPlane } from '../../api/steward/v1alpha1/tenant-control-plane.ts';
import type { Cluster } from '../../runtime/cluster.ts';
import type { InformerFactory } from '../../runtime/informer-factory.ts';
import type { ObjectMemory } from '../../runtime/object-memory.ts';
import type { ObjectSlot } from '../../runtime/object-slot.ts';
import { chooseDataStore } from './components/placement/choose-data-store.ts';
import type { Choice, Fit } from './components/placement/choose-data-store.ts';
import type { Origin } from './components/placement/namespace-refusal.ts';
import { originOf } from './namespace-labels.ts';
import { tenantsByStore } from './components/placement/tenants-by-store.ts';

/** With what DataStores are chosen. */
export interface PlacementsOptions {
  readonly cluster: Cluster;
  readonly informers: Pick<InformerFactory, 'informer'>;
  /** The place of a tenant that goes is free. */
  readonly memory: ObjectMemory;
  /** DataStore of tenants that neither name nor select one; empty for none. */
  readonly defaultDataStore: string;
  /** Namespace of the tenants that this process looks after; empty for all. */
  readonly namespace: string;
}

/** What choosing came to. `behind`: what an earlier process chose has not arrived yet. */
export type Placing =
  | { readonly is: 'chosen'; readonly fit: Fit; readonly choice: Choice }
  | { readonly is: 'none'; readonly choice: Choice }
  | { readonly is: 'behind' };

interface Held {
  readonly key: Key;
  readonly store: string;
}

/**
 * Chooses DataStores for tenants that name none, so that tenants who are placed at the same time do not overfill one. What was
 * chosen is held from the moment of choosing until the cache shows it: between choosing and holding nothing else runs. Only
 * the process that leads may choose.
 */
export class Placements {
  readonly #options: PlacementsOptions;
  /** By the UID of the tenant. */
  readonly #held: ObjectSlot<Held>;
  #hasCaughtUp = false;

  constructor(options: PlacementsOptions) {
    this.#options = options;
    this.#held = options.memory.slot('chosen DataStores');
  }

  /** Chooses for a tenant. The store it chooses was read from the API server itself. */
  async place(tcp: TenantControlPlane, signal: AbortSignal): Promise<Placing> {
    if (!this.#hasCaughtUp) this.#hasCaughtUp = await this.#catchesUp(signal);
    if (!this.#hasCaughtUp) return { is: 'behind' };
    const uid = tcp.metadata.uid ?? '';
    const { namespace = '', name = '' } = tcp.metadata;
    const known = this.#stores();
    const origin = await originOf(namespace, known, { cluster: this.#options.cluster, signal });
    const stores = new Map(known.map((store) => [store.metadata.name ?? '', store]));
    const fresh = new Set<string>();
    for (;;) {
      const choice = this.#choose(tcp, [...stores.values()], origin);
      const [fit] = choice.fits;
      if (fit === undefined) {
        this.#held.delete(uid);
        return { is: 'none', choice };
      }
      this.#held.set(uid, { key: { namespace, name }, store: fit.name });
      if (fresh.has(fit.name)) return { is: 'chosen', fit, choice };
      const found = await this.#options.cluster.get(dataStore, { name: fit.name }, { signal });
      fresh.add(fit.name);
      if (found === undefined) stores.delete(fit.name);
      else stores.set(fit.name, found);
    }
  }

  #choose(tcp: TenantControlPlane, stores: readonly DataStore[], origin: Origin): Choice {
    const { defaultDataStore, namespace } = this.#options;
    const { uid } = tcp.metadata;
    const others = this.#tenants().filter((one) => one.metadata.uid !== uid);
    const used = tenantsByStore({ stores, tenants: others, held: this.#heldBy(uid), defaultDataStore, namespace });
    const { dataStoreSelector: selector, dataStoreTolerations: tolerations = [] } = tcp.spec;
    return chooseDataStore(
      { selector, tolerations, origin },
      stores.map((store) => ({ store, tenants: used.get(store.metadata.name ?? '') ?? 0 })),
    );
  }

  /** What is held for other tenants, without what the cache tells by itself and without tenants that are gone. */
  #heldBy(uid: string | undefined): readonly Held[] {
    const cache = this.#options.informers.informer({ kind: tenantControlPlane });
    for (const [owner, { key }] of this.#held.entries()) {
      const cached = cache.get(key);
      const isKnown = cached !== undefined && dataStoresOf(cached, this.#options.defaultDataStore).length > 0;
      if (cached?.metadata.uid !== owner || isKnown) this.#held.delete(owner);
    }
    return this.#held
      .entries()
      .filter(([owner]) => owner !== uid)
      .map(([, held]) => held);
  }

  /** True when the cache has every choice that is on record: a process that led before may have made the last ones just now. */
  async #catchesUp(signal: AbortSignal): Promise<boolean> {
    const { cluster, informers, namespace } = this.#options;
    const { items } = await cluster.list(tenantControlPlane, { signal, ...(namespace !== '' && { namespace }) });
    const cache = informers.informer({ kind: tenantControlPlane });
    return items.every(({ metadata, status }) => {
      const chosen = status?.storage?.placement?.dataStoreName;
      if (chosen === undefined) return true;
      const cached = cache.get({ namespace: metadata.namespace ?? '', name: metadata.name ?? '' });
      return cached?.metadata.uid === metadata.uid && cached?.status?.storage?.placement?.dataStoreName === chosen;
    });
  }

  #stores(): readonly DataStore[] {
    return this.#options.informers.informer({ kind: dataStore }).list();
  }

  #tenants(): readonly TenantControlPlane[] {
    return this.#options.informers.informer({ kind: tenantControlPlane }).list();
  }
}
