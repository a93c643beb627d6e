/** Where a kube-apiserver of a tenant answers. */
export interface PodAddress {
  readonly host: string;
  readonly port: number;
}

/** Which pods of tenants are ready, and who waits for that. */
export class ReadyPods {
  readonly #ready = new Map<string, readonly PodAddress[]>();
  readonly #waiting = new Map<string, Set<(addresses: readonly PodAddress[]) => void>>();

  /** Says which pods of a tenant are ready now. */
  set(tenant: string, addresses: readonly PodAddress[]): void {
    if (addresses.length === 0) {
      this.#ready.delete(tenant);
      return;
    }
    this.#ready.set(tenant, addresses);
    this.tell(tenant, addresses);
  }

  /** Tells those who wait for a tenant now where it is reached. It does not count as ready for that. */
  tell(tenant: string, addresses: readonly PodAddress[]): void {
    const waiting = this.#waiting.get(tenant);
    this.#waiting.delete(tenant);
    for (const tell of waiting ?? []) tell(addresses);
  }

  /** The ready pods of a tenant; empty if none is. */
  of(tenant: string): readonly PodAddress[] {
    return this.#ready.get(tenant) ?? [];
  }

  /** Resolves as soon as pods of the tenant are ready; rejects when the signal aborts before. */
  until(tenant: string, signal: AbortSignal): Promise<readonly PodAddress[]> {
    const known = this.of(tenant);
    if (known.length > 0) return Promise.resolve(known);
    return new Promise((resolve, reject) => {
      if (signal.aborted) {
        reject(signal.reason as Error);
        return;
      }
      const waiting = this.#waiting.get(tenant) ?? new Set();
      this.#waiting.set(tenant, waiting);
      const aborted = (): void => {
        waiting.delete(tell);
        if (waiting.size === 0 && this.#waiting.get(tenant) === waiting) this.#waiting.delete(tenant);
        reject(signal.reason as Error);
      };
      const tell = (addresses: readonly PodAddress[]): void => {
        signal.removeEventListener('abort', aborted);
        resolve(addresses);
      };
      waiting.add(tell);
      signal.addEventListener('abort', aborted, { once: true });
    });
  }
}
