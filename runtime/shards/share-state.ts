import { claims, noClaim } from './claim.ts';
import type { Claim, UnknownClaim } from './claim.ts';
import { rendezvous } from './rendezvous.ts';

/** So many answers are kept. */
const mostAnswers = 10_000;

/** Whether work on one key may begin. */
interface Answer {
  readonly isOwn: boolean;
  readonly round: number;
}

/**
 * What one member knows of who works on what, without clock and network. A member begins work on a key only if
 * - the key is its own in every claim of it that may have stood publicly at any time since the others' claims were read, and
 * - no other one claims the key in what was read.
 * So it has claimed first and looked afterwards, and so has every other: of two that both claim a key, the later one sees the claim of the
 * earlier one. A claim is given up only once nothing runs for it: keys that still run are named in the next claim.
 */
export class ShareState {
  readonly #self: string;
  /** The members among which keys are to be shared. */
  #target: readonly string[] = [];
  /** The own claims of which one stands publicly now, though not necessarily the last. */
  #standing: readonly Claim[] = [noClaim];
  /** Those that may have stood since the others' claims were read. */
  #since: readonly Claim[] = [noClaim];
  /** Undefined before the first look. */
  #others: ReadonlyMap<string, Claim | UnknownClaim> | undefined;
  readonly #running = new Map<string, number>();
  readonly #answers = new Map<string, Answer>();
  #round = 0;
  /** The members of the target, and of every claim that may have stood since. */
  #views: readonly (readonly string[])[] = [[]];
  #facts = '';

  constructor(self: string) {
    this.#self = self;
  }

  /** Changes whenever keys may have changed hands. */
  get round(): number {
    return this.#round;
  }

  /** The members among which keys are to be shared from now on. Work on a key that is no longer the own one does not begin anymore. */
  aim(members: readonly string[]): void {
    this.#target = members;
    this.#changed();
  }

  /** The claim to publish next: it names what still runs. */
  nextClaim(): Claim {
    const held = [...this.#running.keys()].filter((key) => rendezvous(key, this.#target) !== this.#self);
    return { members: this.#target, held: held.sort() };
  }

  /** The claim is about to be sent: from now on it may stand. */
  sending(claim: Claim): void {
    this.#standing = [...this.#standing, claim];
    this.#since = [...this.#since, claim];
    this.#changed();
  }

  /** The claim was accepted, and no earlier one can be anymore. */
  stands(claim: Claim): void {
    this.#standing = [claim];
  }

  /** The others' claims, from a read that began after everything above was said. */
  saw(others: ReadonlyMap<string, Claim | UnknownClaim>): void {
    this.#others = others;
    this.#since = this.#standing;
    this.#changed();
  }

  /** Whether work on the key may begin. */
  owns(key: string): boolean {
    const known = this.#answers.get(key);
    if (known?.round === this.#round) return known.isOwn;
    const isOwn = this.#decide(key);
    // Keys that are gone must not stay for ever.
    if (this.#answers.size >= mostAnswers) this.#answers.clear();
    this.#answers.set(key, { isOwn, round: this.#round });
    return isOwn;
  }

  /** Begins work on the key; the returned function ends it. Undefined if it may not begin. */
  begin(key: string): (() => void) | undefined {
    if (!this.owns(key)) return undefined;
    this.#running.set(key, (this.#running.get(key) ?? 0) + 1);
    let hasEnded = false;
    return () => {
      if (hasEnded) return;
      hasEnded = true;
      const left = (this.#running.get(key) ?? 1) - 1;
      if (left === 0) this.#running.delete(key);
      else this.#running.set(key, left);
    };
  }

  /** Whether a claim names keys that no longer run: the sooner that is published, the sooner another one works on them. */
  get holdsTooMuch(): boolean {
    return this.#standing.some(({ held }) => held.some((key) => !this.#running.has(key)));
  }

  /** Answers are kept while nothing changes that they depend on: renewals alone do not. */
  #changed(): void {
    const views = new Map([this.#target, ...this.#since.map(({ members }) => members)].map((one) => [one.join(), one]));
    const facts = JSON.stringify([[...views.keys()].sort(), this.#others === undefined ? [] : [...this.#others]]);
    this.#views = [...views.values()];
    if (facts === this.#facts) return;
    this.#facts = facts;
    this.#round += 1;
  }

  #decide(key: string): boolean {
    if (this.#others === undefined) return false;
    for (const view of this.#views) if (rendezvous(key, view) !== this.#self) return false;
    for (const [other, claim] of this.#others) if (claims(other, claim, key)) return false;
    return true;
  }
}
