import type { Clock } from '../../runtime/clock.ts';

/** The minimum lead of the target in revisions, and the time for which the lead must last at the source's current growth. */
export const leastLead = 1000n;
const leadSeconds = 60;

/** Makes every later write of the target have a greater revision. `checkpoint` is called now and then and may throw. */
export type RaiseTarget = (revision: bigint, checkpoint: () => void) => Promise<void>;

/**
 * Keeps the target's revision ahead of the source's. Clients know the source's revisions: a write with a lower one would look older than
 * what they know, and a watch from a higher one would wait forever. The source continues to grow by the writes of all its tenants while
 * API servers still read there, so the lead follows its growth.
 */
export class RevisionLead {
  readonly #clock: Clock;
  readonly #raise: RaiseTarget;
  #first: { readonly at: number; readonly revision: bigint } | undefined;
  /** The target was raised at least to this. */
  #raised = 0n;

  constructor(clock: Clock, raise: RaiseTarget) {
    this.#clock = clock;
    this.#raise = raise;
  }

  /** Call before writing what the source had at `revision`. Does nothing while the target is ahead. Throws what raising throws. */
  async keep(revision: bigint, checkpoint: () => void): Promise<void> {
    if (this.#raised <= revision) await this.renew(revision, checkpoint);
  }

  /** Restores the full lead. Throws what raising throws. */
  async renew(revision: bigint, checkpoint: () => void): Promise<void> {
    this.#first ??= { at: this.#clock.monotonic(), revision };
    const seconds = Math.max(1, (this.#clock.monotonic() - this.#first.at) / 1000);
    const growth = Number(revision - this.#first.revision) / seconds;
    const wanted = revision + leastLead + BigInt(Math.ceil(growth * leadSeconds));
    if (this.#raised >= wanted) return;
    await this.#raise(wanted, checkpoint);
    this.#raised = wanted;
  }
}
