import type { Key } from '../../../api/meta.ts';
import type { TenantControlPlane } from '../../../api/steward/v1alpha1/tenant-control-plane.ts';
import type { ObjectMemory } from '../../../runtime/cache/object-memory.ts';
import type { ObjectSlot } from '../../../runtime/cache/object-slot.ts';
import { webhookSecrets } from './webhooks.ts';

interface Reader {
  readonly key: Key;
  readonly secrets: ReadonlySet<string>;
}

/** Which control planes read which Secrets of their namespace: recorded in every reconcile, looked up for every change of a Secret. */
export class SecretReaders {
  readonly #readers: ObjectSlot<Reader>;

  constructor(memory: ObjectMemory) {
    this.#readers = memory.slot('Secrets of webhooks');
  }

  /** Records which Secrets a control plane reads now. */
  learn(tcp: TenantControlPlane): void {
    const { uid, namespace, name } = tcp.metadata;
    const secrets = webhookSecrets(tcp);
    if (secrets.length === 0) this.#readers.delete(uid);
    else this.#readers.set(uid, { key: { namespace, name }, secrets: new Set(secrets) });
  }

  /** The control planes that read the Secret. */
  readersOf({ namespace, name }: Key): readonly Key[] {
    return this.#readers
      .entries()
      .flatMap(([, { key, secrets }]) => (key.namespace === namespace && secrets.has(name) ? [key] : []));
  }
}
