import { isDeepStrictEqual } from 'node:util';
import type { CoreTypes } from '../../../../api/core/core-schema.ts';
import type { Key } from '../../../../api/meta.ts';
import { dataStore } from '../../../../api/steward/v1alpha1/data-store.ts';
import type { DataStore } from '../../../../api/steward/v1alpha1/data-store.ts';
import { dataStoresOf } from '../../../../api/steward/v1alpha1/data-stores-of.ts';
import { tenantControlPlane } from '../../../../api/steward/v1alpha1/tenant-control-plane.ts';
import type { TenantControlPlane } from '../../../../api/steward/v1alpha1/tenant-control-plane.ts';
import type { Cluster } from '../../../../runtime/client/cluster.ts';
import type { InformerFactory } from '../../../../runtime/cache/informer-factory.ts';
import type { ObjectMemory } from '../../../../runtime/cache/object-memory.ts';
import type { ObjectSlot } from '../../../../runtime/cache/object-slot.ts';
import type { StoreAccess } from '../../../../stores/store-access.ts';
import { chooseDataStore } from './choose-data-store.ts';
import type { Choice, Fit } from './choose-data-store.ts';
import type { Origin } from './namespace-refusal.ts';
import { originOf } from './namespace-labels.ts';
import { tenantsByStore } from './tenants-by-store.ts';

/** What is needed to choose DataStores. */
export interface PlacementsOptions {
  readonly cluster: Cluster;
  readonly informers: Pick<InformerFactory, 'informer'>;
  /** The cached TenantControlPlanes, and deleted ones whose data is retained. */
  readonly allTenants: () => readonly TenantControlPlane[];
  /** The memory of a tenant is dropped when it is deleted, which frees its place. */
  readonly memory: ObjectMemory;
  /** DataStore of tenants that neither name nor select one; empty for none. */
  readonly defaultDataStore: string;
  readonly stores: Pick<StoreAccess, 'capabilities'>;
  /** Namespace of the tenants that this process reconciles; empty for all. */
  readonly namespace: string;
}

/** The DataStore that a tenant leaves, and the requirements for the next one. */
export interface Departure {
  readonly leaves: string;
  /** The labels that the next one must have. */
  readonly selector: CoreTypes['LabelSelector'] | undefined;
  /** The DataStore that is chosen only if no other fits. */
  readonly avoids?: string | undefined;
}

/** The result of choosing. `behind`: the cache does not show yet what an earlier process chose. */
export type PlacementResult =
  | { readonly is: 'chosen'; readonly fit: Fit; readonly choice: Choice }
  | { readonly is: 'none'; readonly choice: Choice }
  | { readonly is: 'behind' };

/** What was chosen for a tenant: by placement, and by a drain. */
function choicesOf(status: TenantControlPlane['status']): readonly (string | undefined)[] {
  return [status?.storage?.placement?.dataStoreName, status?.storage?.drain?.dataStoreName];
}

interface Held {
  readonly key: Key;
  readonly store: string;
  /** True when the tenant has no DataStore yet. */
  readonly isFirst: boolean;
}

/**
 * Chooses DataStores for tenants that name none, so that tenants which are placed at the same time do not overfill one. A choice
 * is held from the moment of choosing until the cache shows it: nothing else runs between choosing and holding. Only the leader
 * may choose.
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

  /** Chooses for a tenant, which may have to leave another DataStore. The chosen one was read from the API server itself. */
  async place(tcp: TenantControlPlane, signal: AbortSignal, departure?: Departure): Promise<PlacementResult> {
    if (!this.#hasCaughtUp) this.#hasCaughtUp = await this.#catchesUp(signal);
    if (!this.#hasCaughtUp) return { is: 'behind' };
    const uid = tcp.metadata.uid;
    const { namespace, name } = tcp.metadata;
    const known = this.#stores().filter(({ metadata }) => metadata.name !== departure?.leaves);
    const origin = await originOf(namespace, known, { cluster: this.#options.cluster, signal });
    const stores = new Map(known.map((store) => [store.metadata.name, store]));
    const fresh = new Set<string>();
    for (;;) {
      const choice = this.#choose(tcp, [...stores.values()], origin, departure);
      const fit = choice.fits.find((one) => one.name !== departure?.avoids) ?? choice.fits[0];
      if (fit === undefined) {
        this.#held.delete(uid);
        return { is: 'none', choice };
      }
      this.#held.set(uid, { key: { namespace, name }, store: fit.name, isFirst: departure === undefined });
      if (fresh.has(fit.name)) return { is: 'chosen', fit, choice };
      const found = await this.#options.cluster.get(dataStore, { name: fit.name }, { signal });
      fresh.add(fit.name);
      if (found === undefined) stores.delete(fit.name);
      else stores.set(fit.name, found);
    }
  }

  /** The tenant is not migrated to the DataStore that was chosen for it. */
  release(uid: string): void {
    this.#held.delete(uid);
  }

  #choose(
    tcp: TenantControlPlane,
    stores: readonly DataStore[],
    origin: Origin,
    departure: Departure | undefined,
  ): Choice {
    const { defaultDataStore, namespace, stores: access, allTenants } = this.#options;
    const { uid } = tcp.metadata;
    const others = allTenants().filter((one) => one.metadata.uid !== uid);
    const used = tenantsByStore({ stores, tenants: others, held: this.#heldBy(uid), defaultDataStore, namespace });
    const { dataStoreSelector: selector, dataStoreTolerations: tolerations = [] } = tcp.spec;
    return chooseDataStore(
      { selector, tolerations, origin, targetSelector: departure?.selector },
      stores.map((store) => ({
        store,
        tenants: used.get(store.metadata.name) ?? 0,
        servesOne: access.capabilities(store.spec.driver)?.servesOneTenant(store.spec) === true,
      })),
    );
  }

  /** What is held for other tenants, except what the cache already shows and what deleted tenants held. */
  #heldBy(uid: string | undefined): readonly Held[] {
    const cache = this.#options.informers.informer({ kind: tenantControlPlane });
    for (const [owner, { key, store, isFirst }] of this.#held.entries()) {
      const cached = cache.get(key);
      const shown = cached === undefined ? [] : dataStoresOf(cached, this.#options.defaultDataStore);
      // Of a tenant without a DataStore, the first one that is shown replaces the choice.
      const isKnown = isFirst ? shown.length > 0 : shown.includes(store);
      if (cached?.metadata.uid !== owner || isKnown) this.#held.delete(owner);
    }
    return this.#held
      .entries()
      .filter(([owner]) => owner !== uid)
      .map(([, held]) => held);
  }

  /** True when the cache shows every recorded choice: the previous leader may have made the last ones just now. */
  async #catchesUp(signal: AbortSignal): Promise<boolean> {
    const { cluster, informers, namespace } = this.#options;
    const { items } = await cluster.list(tenantControlPlane, { signal, ...(namespace !== '' && { namespace }) });
    const cache = informers.informer({ kind: tenantControlPlane });
    return items.every(({ metadata, status }) => {
      const chosen = choicesOf(status);
      if (chosen.every((name) => name === undefined)) return true;
      const cached = cache.get({ namespace: metadata.namespace, name: metadata.name });
      return cached?.metadata.uid === metadata.uid && isDeepStrictEqual(choicesOf(cached.status), chosen);
    });
  }

  #stores(): readonly DataStore[] {
    return this.#options.informers.informer({ kind: dataStore }).list();
  }
}
