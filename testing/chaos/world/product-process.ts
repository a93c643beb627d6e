import type { Clock } from '../../../runtime/clock.ts';
import { UnreachableError } from '../../../runtime/client/errors.ts';
import { CrashError } from '../../fake/fake-faults.ts';
import { ProcessClock } from './process-clock.ts';
import type { Pass, ProductCall } from './product-call.ts';

/** What the calls of all processes pass. */
export interface Passage {
  strike<T>(process: ProductProcess, call: ProductCall, send: () => Promise<T>, signal?: AbortSignal): Promise<T>;
}

/** One process of the product: a manager, or the process of a Job. It can die, and lose its connection to the management cluster. */
export class ProductProcess {
  readonly name: string;
  readonly clock: ProcessClock;
  readonly #passage: Passage;
  readonly #death = new AbortController();
  readonly #cut = new AbortController();
  readonly #releases: (() => void)[] = [];

  constructor(name: string, clock: Clock, passage: Passage) {
    this.name = name;
    this.clock = new ProcessClock(clock);
    this.#passage = passage;
  }

  get isDead(): boolean {
    return this.#death.signal.aborted;
  }

  /** Calls this once it is dead. */
  died(listener: () => void): void {
    this.#death.signal.addEventListener('abort', listener, { once: true });
  }

  /** Nothing that it does arrives anymore. */
  kill(): void {
    this.clock.end();
    this.#death.abort(new CrashError(`${this.name} is dead`));
  }

  /** Calls this when nobody looks at the process anymore. */
  released(listener: () => void): void {
    this.#releases.push(listener);
  }

  /** Ends what a dead process waits for, which would stay in memory. Nothing in a real process that is killed does this. */
  release(): void {
    for (const listener of this.#releases.splice(0)) listener();
  }

  /** From now on it reaches the management cluster no more. */
  cutOff(): void {
    this.#cut.abort(new UnreachableError('connect EHOSTUNREACH: the network is down'));
  }

  readonly pass: Pass = async (call, send, signal) => {
    this.#refuse(call);
    const answer = await this.#passage.strike(this, call, send, signal);
    // It died while it waited for the answer.
    if (this.isDead) throw this.#death.signal.reason;
    return answer;
  };

  /** Its watches end with it and with its connection. */
  readonly watches = <T>(open: (signal: AbortSignal) => AsyncIterable<T>, signal: AbortSignal): AsyncIterable<T> =>
    open(AbortSignal.any([signal, this.#death.signal, this.#cut.signal]));

  #refuse({ to }: ProductCall): void {
    if (this.isDead) throw this.#death.signal.reason;
    if (to === 'management') this.#cut.signal.throwIfAborted();
  }
}
