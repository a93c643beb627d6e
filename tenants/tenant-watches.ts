import type { Connection } from '../runtime/client/connection.ts';
import type { ObjectMemory } from '../runtime/cache/object-memory.ts';
import type { ObjectSlot } from '../runtime/cache/object-slot.ts';
import type { Presence } from './expectations.ts';
import { TenantWatch } from './tenant-watch.ts';
import type { Notify, TenantWatchOptions } from './tenant-watch.ts';

/** Watches all tenants for drift of the applied objects, each on its own. */
export class TenantWatches {
  readonly #watches: ObjectSlot<TenantWatch>;
  readonly #options: TenantWatchOptions;

  /** The watches of a deleted tenant are closed. */
  constructor(options: TenantWatchOptions & { readonly memory: ObjectMemory }) {
    this.#options = options;
    this.#watches = options.memory.slot('watches in tenants', {
      dispose: (watch) => {
        watch.close();
      },
    });
  }

  /** True while all drift in the tenant `uid` is noticed. */
  isComplete(uid: string): boolean {
    return this.#watches.get(uid)?.isComplete ?? false;
  }

  /** A component is about to be applied; `applied` or `failed` must follow. The watches are opened through `connection`. */
  applying(uid: string, component: string, at: { readonly connection: Connection; readonly notify: Notify }): void {
    const watch = this.#watches.getOrMake(uid, () => new TenantWatch(at.connection, at.notify, this.#options));
    watch.applying(component);
  }

  /** The objects of a component from now on. */
  applied(uid: string, presence: Presence, connection: Connection): void {
    this.#watches.get(uid)?.applied(presence, connection);
  }

  /** The objects of a component are unknown; it will be applied again. */
  failed(uid: string, component: string): void {
    this.#watches.get(uid)?.failed(component);
  }

  /** Others maintain a component from now on. */
  left(uid: string, component: string): void {
    this.#watches.get(uid)?.left(component);
  }

  /** The tenant is being reconciled: watches that were given up are tried again. */
  wake(uid: string): void {
    this.#watches.get(uid)?.wake();
  }

  /** Closes the watches of a tenant. */
  leave(uid: string): void {
    this.#watches.delete(uid);
  }

  /** Closes all watches. */
  close(): void {
    this.#watches.clear();
  }
}
