/** Why a key runs: a person changed the object, something that is watched changed, or only time has passed. */
export type Cause = 'edited' | 'watched' | 'time';

/** The end of a reconcile, or of the repeated requests in place of one. */
export interface ReconcileEnd {
  /** When it wants to be requeued; undefined when only an event shall enqueue it. */
  readonly askedMs: number | undefined;
  /** Whether it changed something in the management cluster. */
  readonly progressed: boolean;
  /** Whether it got further in work that takes several reconciles, such as a list that is read by pages. */
  readonly hasMore?: boolean;
  /** How long it waited for servers elsewhere. */
  readonly heldMs: number;
  readonly tookMs: number;
}

/** The constants of the requeue pace, in milliseconds unless noted. */
export const paceRules = {
  /** Reconciles without progress are requeued as early as they request until this much time is used up; it is restored slowly. */
  fast: { burstMs: 3_000, perMs: 0.002, leastMs: 25 },
  /** After that they are delayed: doubling, from the first to the last. */
  step: { firstMs: 250, lastMs: 60_000 },
  /** How often progress, or a change that others made, resets a key to the first step: this many at once, and then one per interval. */
  resets: { burst: 30, eachMs: 60_000 },
  /**
   * How often a key is requeued as early as it requests because it made progress: this many at once, and then one per
   * interval.
   */
  further: { burst: 200, eachMs: 60_000 },
  /** How often a watched change enqueues a delayed key: this many at once, and then one per interval. */
  reconciles: { burst: 60, eachMs: 10_000 },
  /** A key that occupied a worker for `fromMs` or longer is delayed by at least that time: doubling each time, up to `lastMs`. */
  hold: { fromMs: 1_000, lastMs: 300_000 },
} as const;

interface State {
  at: number;
  fastMs: number;
  resets: number;
  further: number;
  reconciles: number;
  steps: number;
  holds: number;
  notBefore: number;
}

export interface PaceOptions {
  /** Milliseconds that only ever grow. */
  readonly now: () => number;
  /** True for objects whose watched changes come from many others: these are not counted, nor is work that takes several reconciles. */
  readonly concernsMany?: boolean;
}

/**
 * The rule for all retries. A reconcile that made no progress and requests an early requeue backs off, doubling, until the
 * object or something that is watched changes. Changes that tenants can cause at will reset the backoff only a limited
 * number of times, so that no tenant can keep the manager busy by changing something back and forth. Pure except for the
 * clock.
 */
export class RequeuePace {
  readonly #now: () => number;
  readonly #concernsMany: boolean;
  readonly #states = new Map<string, State>();

  constructor({ now, concernsMany = false }: PaceOptions) {
    this.#now = now;
    this.#concernsMany = concernsMany;
  }

  /** Milliseconds for which the key must not run yet; 0 when it runs now. */
  begin(key: string, cause: Cause): number {
    const known = this.#states.get(key);
    if (known === undefined && (cause !== 'watched' || this.#concernsMany)) return 0;
    const state = this.#refilled(key);
    if (cause === 'edited') {
      state.steps = 0;
      state.fastMs = paceRules.fast.burstMs;
      return 0;
    }
    const held = state.notBefore - state.at;
    if (held > 0) return held;
    if (cause === 'time') return 0;
    if (this.#concernsMany) {
      state.steps = 0;
      return 0;
    }
    if (state.reconciles < 1) return Math.ceil((1 - state.reconciles) * paceRules.reconciles.eachMs);
    state.reconciles -= 1;
    if (this.#mayReset(state)) state.steps = 0;
    return 0;
  }

  /** Milliseconds until the key is requeued; undefined when only an event enqueues it. */
  ended(key: string, end: ReconcileEnd): number | undefined {
    const { askedMs } = end;
    const { step } = paceRules;
    const state = this.#refilled(key);
    const changed = end.progressed && (this.#concernsMany || this.#mayReset(state));
    const progressed = changed || (end.hasMore === true && (this.#concernsMany || this.#mayGoOn(state)));
    this.#hold(state, end.heldMs, progressed);
    const rests = askedMs === undefined || askedMs >= step.lastMs;
    if (rests || progressed) state.steps = 0;
    if (askedMs === undefined) {
      this.#sweep(key, state);
      return undefined;
    }
    const requested = Math.max(askedMs, state.notBefore - state.at);
    if (rests || progressed) return requested;
    if (this.#spend(state, askedMs, end.tookMs)) return Math.max(requested, paceRules.fast.leastMs);
    const putOff = Math.min(step.firstMs * 2 ** Math.min(state.steps, 30), step.lastMs);
    state.steps += 1;
    return Math.max(requested, putOff);
  }

  /** How often in a row, roughly, the key held a worker for long; 0 for a quick one. */
  holds(key: string): number {
    return this.#states.get(key)?.holds ?? 0;
  }

  forget(key: string): void {
    this.#states.delete(key);
  }

  /** Keys that something is remembered of. */
  get size(): number {
    return this.#states.size;
  }

  #hold(state: State, heldMs: number, progressed: boolean): void {
    const { fromMs, lastMs } = paceRules.hold;
    if (heldMs < fromMs) {
      // Halved, not reset: a single fast answer is easy to give.
      state.holds = Math.floor(state.holds / 2);
      return;
    }
    if (progressed) return;
    state.notBefore = state.at + Math.min(heldMs * 2 ** Math.min(state.holds, 30), lastMs);
    state.holds += 1;
  }

  /** Takes a try from the key's budget for early requeues. */
  #spend(state: State, askedMs: number, tookMs: number): boolean {
    if (state.steps > 0 || askedMs >= paceRules.step.firstMs) return false;
    const cost = Math.max(askedMs, paceRules.fast.leastMs) + tookMs;
    if (state.fastMs < cost) return false;
    state.fastMs -= cost;
    return true;
  }

  #mayReset(state: State): boolean {
    if (state.resets < 1) return false;
    state.resets -= 1;
    return true;
  }

  #mayGoOn(state: State): boolean {
    if (state.further < 1) return false;
    state.further -= 1;
    return true;
  }

  #refilled(key: string): State {
    const { fast, resets, further, reconciles } = paceRules;
    const at = this.#now();
    const known = this.#states.get(key);
    if (known === undefined) {
      const full = { fastMs: fast.burstMs, resets: resets.burst, further: further.burst, reconciles: reconciles.burst };
      const state: State = { at, ...full, steps: 0, holds: 0, notBefore: at };
      this.#states.set(key, state);
      return state;
    }
    const passed = at - known.at;
    known.at = at;
    known.fastMs = Math.min(fast.burstMs, known.fastMs + passed * fast.perMs);
    known.resets = Math.min(resets.burst, known.resets + passed / resets.eachMs);
    known.further = Math.min(further.burst, known.further + passed / further.eachMs);
    known.reconciles = Math.min(reconciles.burst, known.reconciles + passed / reconciles.eachMs);
    return known;
  }

  /** A state that equals that of a new key is not stored. */
  #sweep(key: string, state: State): void {
    const { fast, resets, further, reconciles } = paceRules;
    const isRefilled =
      state.resets >= resets.burst && state.further >= further.burst && state.reconciles >= reconciles.burst;
    const isFull = isRefilled && state.fastMs >= fast.burstMs && state.holds === 0;
    if (isFull && state.notBefore <= state.at) this.#states.delete(key);
  }
}
