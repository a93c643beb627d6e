import { createHash } from 'node:crypto';
import { Latest } from './latest.ts';

interface Slot<Value extends object> {
  value?: WeakRef<Value>;
}

/**
 * Values by the text that they were made from, for texts and values that carry secrets: of the text only a hash is kept, and a value only
 * until it is collected as garbage because nobody else holds it. The text must be all that a value depends on.
 */
export class LatestHeld<Value extends object> {
  readonly #slots: Latest<Slot<Value>>;

  constructor(most: number) {
    this.#slots = new Latest(most);
  }

  /** The value that is known, or a new one. What `make` throws is not kept. */
  of(text: string, make: (text: string) => Value): Value {
    const slot = this.#slots.of(createHash('sha256').update(text).digest('base64'), () => ({}));
    const known = slot.value?.deref();
    if (known !== undefined) return known;
    const value = make(text);
    slot.value = new WeakRef(value);
    return value;
  }
}
