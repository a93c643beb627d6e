import type { Connection } from '../runtime/connection.ts';
import type { ObjectMemory } from '../runtime/object-memory.ts';
import type { ObjectSlot } from '../runtime/object-slot.ts';
import type { Presence } from './expectations.ts';
import { TenantWatch } from './tenant-watch.ts';
import type { Ring, TenantWatchOptions } from './tenant-watch.ts';

/** Listens to all tenants for foreign edits of what was applied in them: one line each. */
export class TenantWatches {
  readonly #watches: ObjectSlot<TenantWatch>;
  readonly #options: TenantWatchOptions;

  /** The line to a tenant that goes is closed. */
  constructor(options: TenantWatchOptions & { readonly memory: ObjectMemory }) {
    this.#options = options;
    this.#watches = options.memory.slot('watches in tenants', {
      dispose: (watch) => {
        watch.close();
      },
    });
  }

  /** True while every foreign edit in the tenant `uid` is heard. */
  hears(uid: string): boolean {
    return this.#watches.get(uid)?.hears ?? false;
  }

  /** A component is about to be applied; `applied` or `failed` must follow. The line is opened through `connection`. */
  applying(uid: string, component: string, at: { readonly connection: Connection; readonly ring: Ring }): void {
    const watch = this.#watches.getOrMake(uid, () => new TenantWatch(at.connection, at.ring, this.#options));
    watch.applying(component);
  }

  /** What there is of a component from now on. */
  applied(uid: string, presence: Presence, connection: Connection): void {
    this.#watches.get(uid)?.applied(presence, connection);
  }

  /** Nobody knows what there is of a component; it will be applied again. */
  failed(uid: string, component: string): void {
    this.#watches.get(uid)?.failed(component);
  }

  /** Others look after a component from now on. */
  left(uid: string, component: string): void {
    this.#watches.get(uid)?.left(component);
  }

  /** The tenant is being visited: a line that was given up is tried again. */
  wake(uid: string): void {
    this.#watches.get(uid)?.wake();
  }

  /** Hangs up. */
  leave(uid: string): void {
    this.#watches.delete(uid);
  }

  /** Hangs up everywhere. */
  close(): void {
    this.#watches.clear();
  }
}
