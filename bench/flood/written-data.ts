/** What a tenant may still store. */
export interface QuotaRoom {
  readonly objects: number;
  readonly bytes: number;
}

/** Counts what a flood stores, and how long it goes on after it has reached the limit. Times are in milliseconds. */
export class WrittenData {
  readonly #room: QuotaRoom;
  readonly #bytesOfWrite: number;
  #accepted = 0;
  #denied = 0;
  #reachedAt: number | undefined;
  #deniedAt: number | undefined;

  /** `bytesOfWrite`: what one write stores at least. */
  constructor(room: QuotaRoom, bytesOfWrite: number) {
    this.#room = room;
    this.#bytesOfWrite = bytesOfWrite;
  }

  get accepted(): number {
    return this.#accepted;
  }

  get denied(): number {
    return this.#denied;
  }

  /** From the write that reached the limit to the first that was denied; undefined while none was. 0: it was denied before that. */
  get deniedAfterMs(): number | undefined {
    if (this.#deniedAt === undefined) return undefined;
    return Math.max(0, this.#deniedAt - (this.#reachedAt ?? this.#deniedAt));
  }

  /** A write was accepted. */
  accept(at: number): void {
    this.#accepted += 1;
    const { objects, bytes } = this.#room;
    if (this.#accepted >= objects || this.#accepted * this.#bytesOfWrite >= bytes) this.#reachedAt ??= at;
  }

  /** A write was denied by the quota. */
  deny(at: number): void {
    this.#denied += 1;
    this.#deniedAt ??= at;
  }
}
