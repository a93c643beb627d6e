import { ObjectSlot, type SlotOptions } from './object-slot.ts';

/**
 * What a process remembers of objects between reconciles. Whoever remembers something asks for a slot. The runtime drops an object
 * from all slots when the object has gone, when another one took its name, and when another manager looks after it. So nobody
 * has to be told, and no slot can be left out.
 */
export class ObjectMemory {
  readonly #slots: { readonly name: string; readonly slot: Pick<ObjectSlot<unknown>, 'size' | 'delete'> }[] = [];

  /** A slot that lives as long as the process: ask for it when the process starts, never for each object. */
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
