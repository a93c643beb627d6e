import { isDeepStrictEqual } from 'node:util';
import type { CoreTypes } from '../../../../api/core/core-schema.ts';
import { dataStore } from '../../../../api/steward/v1alpha1/data-store.ts';
import type { DataStore } from '../../../../api/steward/v1alpha1/data-store.ts';
import { dataStoresOf } from '../../../../api/steward/v1alpha1/data-stores-of.ts';
import { tenantControlPlane } from '../../../../api/steward/v1alpha1/tenant-control-plane.ts';
import type { TenantControlPlane } from '../../../../api/steward/v1alpha1/tenant-control-plane.ts';
import type { Cluster } from '../../../../runtime/client/cluster.ts';
import type { Clock } from '../../../../runtime/clock.ts';
import type { InformerFactory } from '../../../../runtime/cache/informer-factory.ts';
import type { ObjectMemory } from '../../../../runtime/cache/object-memory.ts';
import type { ObjectSlot } from '../../../../runtime/cache/object-slot.ts';
import { isOlder } from '../../../../runtime/cache/object-id.ts';
import type { SharedRecord } from '../../../../runtime/shards/shared-record.ts';
import type { StoreAccess } from '../../../../stores/store-access.ts';
import type { ChoicesRecord, Chosen, SharedChoice } from './choices-record.ts';
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
  /** Other managers that choose, too; absent when this process is the only one. */
  readonly shared?: SharedPlacements | undefined;
}

/** How several managers choose without overfilling a DataStore. */
export interface SharedPlacements {
  readonly record: Pick<SharedRecord<ChoicesRecord>, 'update'>;
  /** The name of this manager. */
  readonly self: string;
  /** Whether the manager of this name may still write. */
  readonly isAtWork: (name: string, signal: AbortSignal) => Promise<boolean>;
  readonly clock: Pick<Clock, 'now' | 'monotonic'>;
}

/** A recorded choice that is seen for so many milliseconds while no status shows it is given up: its manager has had all the time to record it. */
const longestUnshownMs = 600_000;

/** The DataStore that a tenant leaves, and the requirements for the next one. */
export interface Departure {
  readonly leaves: string;
  /** The labels that the next one must have. */
  readonly selector: CoreTypes['LabelSelector'] | undefined;
  /** The DataStore that is chosen only if no other fits. */
  readonly avoids?: string | undefined;
  /** Asked again right before the choice where several managers choose: whether the tenant may leave now. */
  readonly mayLeave?: () => boolean;
}

/** The result of choosing. `behind`: the cache does not show yet what another process chose. */
export type PlacementResult =
  | { readonly is: 'chosen'; readonly fit: Fit; readonly choice: Choice }
  | { readonly is: 'none'; readonly choice: Choice }
  | { readonly is: 'behind' };

/** Among what is chosen. */
interface Candidates {
  readonly stores: readonly DataStore[];
  readonly origin: Origin;
  readonly departure: Departure | undefined;
  /** What others hold. */
  readonly beside: readonly SharedChoice[];
}

/** What was chosen for a tenant: by placement, and by a drain. */
function choicesOf(status: TenantControlPlane['status']): readonly (string | undefined)[] {
  return [status?.storage?.placement?.dataStoreName, status?.storage?.drain?.dataStoreName];
}

type Held = Omit<Chosen, 'uid'>;

const nameOf = ({ uid, by, at }: SharedChoice): string => `${uid} ${by} ${at}`;

/**
 * Chooses DataStores for tenants that name none, so that tenants which are placed at the same time do not overfill one. A choice
 * is held from the moment of choosing until the cache shows it: nothing else runs between choosing and holding. Only the leader
 * may choose, or managers that record their choices for each other (ADR 28).
 */
export class Placements {
  readonly #options: PlacementsOptions;
  /** By the UID of the tenant. */
  readonly #held: ObjectSlot<Held>;
  /** When choices of other managers were first seen; their own times are of another machine's clock. */
  #seen: ReadonlyMap<string, number> = new Map();
  #hasCaughtUp = false;

  constructor(options: PlacementsOptions) {
    this.#options = options;
    this.#held = options.memory.slot('chosen DataStores');
  }

  /** Chooses for a tenant, which may have to leave another DataStore. The chosen one was read from the API server itself. */
  async place(tcp: TenantControlPlane, signal: AbortSignal, departure?: Departure): Promise<PlacementResult> {
    if (!this.#hasCaughtUp) this.#hasCaughtUp = await this.#catchesUp(signal);
    if (!this.#hasCaughtUp) return { is: 'behind' };
    const { shared } = this.#options;
    if (shared === undefined) return this.#placeBeside([], tcp, signal, departure);
    return shared.record.update(async (record) => {
      const known = await this.#settle(record, shared, signal);
      const beside = known.choices.filter(({ uid }) => uid !== tcp.metadata.uid);
      const isTaken =
        departure !== undefined &&
        (departure.mayLeave?.() === false || beside.some(({ leaves }) => leaves === departure.leaves));
      if (this.#isBehind(known.floor) || isTaken) return { result: { is: 'behind' }, next: known };
      const result = await this.#placeBeside(beside, tcp, signal, departure);
      const { uid } = tcp.metadata;
      const mine = result.is === 'chosen' ? this.#held.get(uid) : undefined;
      const at = shared.clock.now().getTime();
      const choices = mine === undefined ? beside : [...beside, { uid, ...mine, by: shared.self, at }];
      return { result, next: { ...known, choices } };
    }, signal);
  }

  /** Chooses while others hold what is `beside`. */
  async #placeBeside(
    beside: readonly SharedChoice[],
    tcp: TenantControlPlane,
    signal: AbortSignal,
    departure: Departure | undefined,
  ): Promise<PlacementResult> {
    const uid = tcp.metadata.uid;
    const { namespace, name } = tcp.metadata;
    const known = this.#stores().filter(({ metadata }) => metadata.name !== departure?.leaves);
    const origin = await originOf(namespace, known, { cluster: this.#options.cluster, signal });
    const stores = new Map(known.map((store) => [store.metadata.name, store]));
    const fresh = new Set<string>();
    for (;;) {
      const choice = this.#choose(tcp, { stores: [...stores.values()], origin, departure, beside });
      const fit = choice.fits.find((one) => one.name !== departure?.avoids) ?? choice.fits[0];
      if (fit === undefined) {
        this.#held.delete(uid);
        return { is: 'none', choice };
      }
      const leaves = departure === undefined ? {} : { leaves: departure.leaves };
      this.#held.set(uid, { key: { namespace, name }, store: fit.name, isFirst: departure === undefined, ...leaves });
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

  #choose(tcp: TenantControlPlane, { stores, origin, departure, beside }: Candidates): Choice {
    const { defaultDataStore, namespace, stores: access, allTenants } = this.#options;
    const { uid } = tcp.metadata;
    const others = allTenants().filter((one) => one.metadata.uid !== uid);
    const held = [...this.#heldBy(uid), ...beside.filter((one) => !this.#isShown(one))];
    const used = tenantsByStore({ stores, tenants: others, held, defaultDataStore, namespace });
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
    for (const [owner, held] of this.#held.entries()) {
      const cached = cache.get(held.key);
      if (cached?.metadata.uid !== owner || this.#shows(cached, held)) this.#held.delete(owner);
    }
    return this.#held
      .entries()
      .filter(([owner]) => owner !== uid)
      .map(([, held]) => held);
  }

  /** Whether the status of the tenant shows the choice. */
  #shows(tcp: TenantControlPlane, { store, isFirst }: Held): boolean {
    const shown = dataStoresOf(tcp, this.#options.defaultDataStore);
    // Of a tenant without a DataStore, the first one that is shown replaces the choice.
    return isFirst ? shown.length > 0 : shown.includes(store);
  }

  /** Whether the cache shows the choice of another manager. */
  #isShown(choice: SharedChoice): boolean {
    const cached = this.#options.informers.informer({ kind: tenantControlPlane }).get(choice.key);
    return cached?.metadata.uid === choice.uid && this.#shows(cached, choice);
  }

  /** Whether the cache lacks choices that are no longer listed. */
  #isBehind(floor: string): boolean {
    const { version } = this.#options.informers.informer({ kind: tenantControlPlane }).health();
    return version === undefined || isOlder(version, floor);
  }

  /** The record without the choices that a status shows, whose tenants are gone, or that nobody will record anymore. */
  async #settle(record: ChoicesRecord, shared: SharedPlacements, signal: AbortSignal): Promise<ChoicesRecord> {
    const cache = this.#options.informers.informer({ kind: tenantControlPlane });
    const choices: SharedChoice[] = [];
    let { floor } = record;
    const seenAt = shared.clock.monotonic();
    this.#seen = new Map(record.choices.map(nameOf).map((name) => [name, this.#seen.get(name) ?? seenAt]));
    for (const choice of record.choices) {
      const { uid, key } = choice;
      const cached = cache.get(key);
      let now = cached?.metadata.uid === uid ? cached : undefined;
      const isGivenUp = await this.#isGivenUp(choice, shared, signal);
      // The cache may be behind. What the API server itself says is final.
      if (now === undefined || (isGivenUp && !this.#shows(now, choice))) {
        const stored = await this.#options.cluster.get(tenantControlPlane, key, { signal });
        now = stored?.metadata.uid === uid ? stored : undefined;
      }
      if (now === undefined) continue;
      const { resourceVersion } = now.metadata;
      if (!this.#shows(now, choice)) {
        if (!isGivenUp) choices.push(choice);
      } else if (isOlder(floor, resourceVersion)) floor = resourceVersion;
    }
    return { floor, choices };
  }

  /** Whether nobody will record the choice in a status anymore. */
  async #isGivenUp(
    choice: SharedChoice,
    { self, isAtWork, clock }: SharedPlacements,
    signal: AbortSignal,
  ): Promise<boolean> {
    const { by, uid } = choice;
    const now = clock.monotonic();
    if (now - (this.#seen.get(nameOf(choice)) ?? now) > longestUnshownMs) return true;
    return by === self ? !this.#held.has(uid) : !(await isAtWork(by, signal));
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
