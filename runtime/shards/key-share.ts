/** The part of all keys that this process works on, where several processes share them. */
export interface KeyShare {
  /** Whether work on the key may begin now. */
  owns(key: string): boolean;
  /** Begins work on the key: until the returned function is called, no other process begins. Undefined if it may not begin. */
  begin(key: string): (() => void) | undefined;
  /** Calls the listener whenever keys may have changed hands. Returns a function that ends that. */
  subscribe(changed: () => void): () => void;
}
