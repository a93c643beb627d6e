import type { Key } from '../../api/meta.ts';
import type { ObjectMemory } from '../../runtime/cache/object-memory.ts';
import type { ObjectSlot } from '../../runtime/cache/object-slot.ts';
import type { DataStore } from '../../api/steward/v1alpha1/data-store.ts';
import { secretsOf } from './secret-references.ts';

/** Which DataStores read which Secrets: recorded in every reconcile, looked up for every change of a Secret. */
export class SecretUsers {
  readonly #stores: ObjectSlot<{ readonly name: string; readonly secrets: ReadonlySet<string> }>;

  constructor(memory: ObjectMemory) {
    this.#stores = memory.slot('Secrets of stores');
  }

  /** Records which Secrets a DataStore reads now. */
  learn(store: DataStore): void {
    const secrets = secretsOf(store).map(({ namespace, name }) => `${namespace}/${name}`);
    const { uid, name } = store.metadata;
    this.#stores.set(uid, { name, secrets: new Set(secrets) });
  }

  /** The DataStores that read the Secret. */
  usersOf({ namespace, name }: Key): readonly Key[] {
    const id = `${namespace ?? ''}/${name}`;
    return this.#stores.entries().flatMap(([, { name: store, secrets }]) => (secrets.has(id) ? [{ name: store }] : []));
  }
}
