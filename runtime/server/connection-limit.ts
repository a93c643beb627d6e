import type { Clock } from '../clock.ts';

/** The part of a request that shows whether all of it has arrived. */
export interface Arriving {
  readonly complete: boolean;
}

/** How many connections a server keeps. */
export interface ConnectionLimitOptions {
  readonly clock: Clock;
  /** Connections at once. */
  readonly most: number;
  /** How long a request that has arrived protects its connection, in milliseconds; none takes longer to answer. */
  readonly answerMs: number;
}

interface Kept {
  readonly destroy: () => void;
  readonly requests: Map<Arriving, number>;
}

/** Clients of a Kubernetes control plane send one request after the other; more at once are an attempt to fill our memory. */
const mostPipelined = 8;

/**
 * Keeps the number of a server's connections bounded without locking clients out: a new one is always accepted, and the one that has
 * been idle for the longest time is closed for it. Half of the room belongs to connections that were answered with success before,
 * so that a flood of new ones drops other new ones first and an API server keeps its own.
 */
export class ConnectionLimit {
  readonly #options: ConnectionLimitOptions;
  /** Both in the order of the last progress, the oldest first. */
  readonly #fresh = new Map<string, Kept>();
  readonly #proven = new Map<string, Kept>();

  constructor(options: ConnectionLimitOptions) {
    this.#options = options;
  }

  /** Connections that are open. */
  get size(): number {
    return this.#fresh.size + this.#proven.size;
  }

  /** A connection was made. `id` stays the same while it is open; `destroy` ends it. */
  opened(id: string, destroy: () => void): void {
    this.#fresh.set(id, { destroy, requests: new Map() });
    if (this.size > this.#options.most && !this.#drop(this.#fresh)) this.#drop(this.#proven);
    // All of the others are being answered at this moment.
    if (this.size > this.#options.most) this.#end(this.#fresh, id);
  }

  /** A request has begun. False if the connection sends too many at once: it is closed and must not be answered. */
  began(id: string, request: Arriving): boolean {
    const kept = this.#find(id);
    if (kept === undefined) return false;
    kept.requests.set(request, this.#options.clock.monotonic());
    this.#touch(id);
    if (kept.requests.size <= mostPipelined) return true;
    this.#end(this.#fresh, id);
    this.#end(this.#proven, id);
    return false;
  }

  /** The answer to a request was sent, with success or not. */
  ended(id: string, request: Arriving, success: boolean): void {
    const kept = this.#find(id);
    if (kept === undefined) return;
    kept.requests.delete(request);
    this.#touch(id);
    if (!success || this.#proven.has(id)) return;
    this.#fresh.delete(id);
    this.#proven.set(id, kept);
    if (this.#proven.size > this.#options.most / 2) this.#drop(this.#proven);
  }

  /** The connection is over. */
  closed(id: string): void {
    this.#fresh.delete(id);
    this.#proven.delete(id);
  }

  /** Ends every connection that is not being answered. */
  dropIdle(): void {
    for (const connections of [this.#fresh, this.#proven]) while (this.#drop(connections));
  }

  #find(id: string): Kept | undefined {
    return this.#fresh.get(id) ?? this.#proven.get(id);
  }

  #touch(id: string): void {
    for (const connections of [this.#fresh, this.#proven]) {
      const kept = connections.get(id);
      if (kept === undefined) continue;
      connections.delete(id);
      connections.set(id, kept);
    }
  }

  /** Ends the connection without progress for the longest time; false when all are being answered. */
  #drop(connections: Map<string, Kept>): boolean {
    for (const [id, kept] of connections) {
      if (this.#isAnswered(kept)) continue;
      this.#end(connections, id);
      return true;
    }
    return false;
  }

  #end(connections: Map<string, Kept>, id: string): void {
    const kept = connections.get(id);
    connections.delete(id);
    kept?.destroy();
  }

  /** A request whose body does not end counts as none. */
  #isAnswered({ requests }: Kept): boolean {
    const since = this.#options.clock.monotonic() - this.#options.answerMs;
    return requests.size > 0 && [...requests].every(([{ complete }, began]) => complete && began > since);
  }
}
