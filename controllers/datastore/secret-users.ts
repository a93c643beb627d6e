import type { Key } from '../../api/meta.ts';
import type { DataStore } from '../../api/steward/v1alpha1/data-store.ts';
import { secretsOf } from './secret-references.ts';

/** Which DataStores read which Secrets: learnt from every visit, asked by every change of a Secret. */
export class SecretUsers {
  readonly #stores = new Map<string, ReadonlySet<string>>();

  /** Learns what a DataStore reads now. */
  learn(store: DataStore): void {
    const secrets = secretsOf(store).map(({ namespace, name }) => `${namespace}/${name}`);
    this.#stores.set(store.metadata.name ?? '', new Set(secrets));
  }

  forget(store: string): void {
    this.#stores.delete(store);
  }

  /** The DataStores that read the Secret. */
  usersOf({ namespace, name }: Key): readonly Key[] {
    const id = `${namespace ?? ''}/${name}`;
    return [...this.#stores].flatMap(([store, secrets]) => (secrets.has(id) ? [{ name: store }] : []));
  }
}
