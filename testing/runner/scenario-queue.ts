/** What is known of scenarios before they run. */
export interface ScenarioQueueInputs {
  /** Names of the scenarios, the one that runs first at the front. */
  readonly order: readonly string[];
  /** Seconds that each of them takes, alone, on two good processors. */
  readonly seconds: ReadonlyMap<string, number>;
  /** How many times slower this machine is, as far as other tests could tell. */
  readonly slowness: number;
}

/** What a scenario takes of which nobody has said it, in seconds. */
const unknownSeconds = 300;

/** The first estimate of this machine counts as much as scenarios of so many seconds. */
const priorSeconds = 300;

/** A scenario begins only where so many times what it is expected to take is left. */
const margin = 1.25;

/**
 * Scenarios that run one after the other while there is time. How long the next one takes is learned from those that ended; one that would
 * not end in time stays where it is, and a shorter one goes before it.
 */
export class ScenarioQueue {
  readonly #waiting: string[];
  readonly #seconds: ReadonlyMap<string, number>;
  #known = priorSeconds;
  #taken: number;

  constructor({ order, seconds, slowness }: ScenarioQueueInputs) {
    this.#waiting = [...order];
    this.#seconds = seconds;
    this.#taken = priorSeconds * slowness;
  }

  /** How many times longer than on two good processors scenarios take here. */
  get pace(): number {
    return this.#taken / this.#known;
  }

  /** The scenarios that have not begun. */
  get waiting(): readonly string[] {
    return this.#waiting;
  }

  /**
   * Takes out the next scenario that may begin and ends within so many seconds, also if it takes a quarter longer than expected; undefined
   * when none does.
   */
  next(secondsLeft: number, mayBegin: (name: string) => boolean = () => true): string | undefined {
    const at = this.#waiting.findIndex((name) => mayBegin(name) && this.expected(name) * margin <= secondsLeft);
    return at < 0 ? undefined : this.#waiting.splice(at, 1)[0];
  }

  /** Notes how long a scenario took that has ended. */
  ended(name: string, seconds: number): void {
    this.#known += this.#seconds.get(name) ?? unknownSeconds;
    this.#taken += seconds;
  }

  /** How long a scenario is expected to take here, in seconds. */
  expected(name: string): number {
    return (this.#seconds.get(name) ?? unknownSeconds) * this.pace;
  }
}
