import { ObjectSlot, type SlotOptions } from './object-slot.ts';

/**
 * What a process remembers about objects between reconciles, in slots. The runtime removes an object from all slots when it
 * is deleted, when another one has its name, and when another manager is responsible for it. So no slot can be forgotten.
 */
export class ObjectMemory {
  readonly #slots: { readonly name: string; readonly slot: Pick<ObjectSlot<unknown>, 'size' | 'delete'> }[] = [];

  /** A slot that exists as long as the process: create it when the process starts, never for each object. */
  slot<T>(name: string, options: SlotOptions<T> = {}): ObjectSlot<T> {
    const slot = new ObjectSlot<T>(options);
    this.#slots.push({ name, slot });
    return slot;
  }

  /** Removes the object from all slots. */
  drop(uid: string): void {
    for (const { slot } of this.#slots) slot.delete(uid);
  }

  /** How many objects each slot remembers. */
  sizes(): ReadonlyMap<string, number> {
    const sizes = new Map<string, number>();
    for (const { name, slot } of this.#slots) sizes.set(name, (sizes.get(name) ?? 0) + slot.size);
    return sizes;
  }
}
