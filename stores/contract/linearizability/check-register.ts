import { valueAfter } from './register-operation.ts';
import type { RegisterChange, RegisterOperation, RegisterValue } from './register-operation.ts';
import { registerViolation } from './register-violation.ts';
import type { RegisterViolation } from './register-violation.ts';

/** What a history was found to be. */
export interface RegisterVerdict {
  /** Absent if some order of the calls explains every answer. */
  readonly violation?: RegisterViolation;
  /** Reads that may be stale, and that by themselves fit no order of the changes. */
  readonly staleReads: readonly RegisterOperation[];
}

/** Thrown when so many calls overlap that the search would take more than its bound. It says nothing about the history. */
export class HistoryTooWideError extends Error {
  override readonly name = 'HistoryTooWideError';
}

/** How a history is checked. */
export interface CheckOptions {
  /** What the register held before; nothing by default. */
  readonly initial?: RegisterValue;
  /** Most states that are looked at to explain one answer; 20,000 by default. */
  readonly mostStates?: number;
}

/**
 * Says whether a history of one register is linearizable: each call takes effect at one moment between its start and its end, and every
 * answer is that of the moment (M. Herlihy, J. Wing: Linearizability, TOPLAS 12(3), 1990, by which each key is checked by itself). It
 * searches for an order as Wing and Gong do (Testing and verifying concurrent objects, JPDC 17, 1993), each call only when the first
 * answer needs it and no state twice (G. Lowe: Testing for linearizability, Concurrency and Computation 29(4), 2017).
 *
 * Throws `HistoryTooWideError`, and an error about a history in which a value is written twice or time runs backwards.
 */
export function checkRegister(history: readonly RegisterOperation[], options: CheckOptions = {}): RegisterVerdict {
  requireSense(history, options.initial);
  return new Search(history, options).verdict();
}

function requireSense(history: readonly RegisterOperation[], initial: RegisterValue): void {
  const written = new Set<RegisterValue>([initial]);
  for (const operation of history) {
    if (operation.start > operation.end) throw new Error(`a call of ${operation.client} ends before it starts`);
    if (operation.is === 'read') continue;
    const value = valueAfter(operation);
    if (value === undefined) continue;
    if (written.has(value)) throw new Error(`"${value}" is written twice, so that no read shows which call it saw`);
    written.add(value);
  }
}

/** A call that the search has to place, with its number in the order of starts. */
interface Step {
  readonly index: number;
  readonly operation: RegisterOperation;
}

/** What the register holds after the calls that took effect; `done` are those among them that have no answer yet. */
interface State {
  readonly value: RegisterValue;
  readonly done: ReadonlySet<number>;
}

type States = ReadonlyMap<string, State>;

function keyOf({ value, done }: State): string {
  const calls = [...done].sort((left, right) => left - right).join(' ');
  return value === undefined ? calls : `${calls} "${value}`;
}

const mustTakeEffect = (operation: RegisterOperation): boolean => operation.is === 'read' || operation.outcome === 'ok';

/** The value that somebody saw if this call took effect. */
function seenBy(operation: RegisterOperation): RegisterValue {
  if (operation.is === 'read') return operation.found;
  return operation.is === 'compare-and-set' ? operation.expected : undefined;
}

/**
 * Leaves out what cannot matter: changes that took no effect, and unknown ones whose value nobody saw. If one of the latter took effect
 * something replaced it, and without it the rest is the same.
 */
function stepsOf(history: readonly RegisterOperation[]): readonly Step[] {
  const seen = new Set<RegisterValue>([undefined]);
  const kept = new Set(history.filter(mustTakeEffect));
  for (const operation of kept) seen.add(seenBy(operation));
  for (let size = -1; size !== kept.size;) {
    size = kept.size;
    for (const operation of history) {
      if (operation.is === 'read' || operation.outcome !== 'unknown' || !seen.has(valueAfter(operation))) continue;
      kept.add(operation);
      seen.add(seenBy(operation));
    }
  }
  return [...kept]
    .sort((left, right) => left.start - right.start)
    .map((operation, index): Step => ({ index, operation }));
}

class Search {
  readonly #history: readonly RegisterOperation[];
  readonly #initial: RegisterValue;
  readonly #mostStates: number;
  readonly #steps: readonly Step[];
  /** Calls that began and have no answer yet. */
  readonly #open = new Map<number, Step>();
  /** How many calls that saw a value have no answer yet. */
  readonly #toSee = new Map<RegisterValue, number>();
  readonly #staleReads: RegisterOperation[] = [];
  #states: States;

  constructor(history: readonly RegisterOperation[], { initial, mostStates = 20_000 }: CheckOptions) {
    this.#history = history;
    this.#initial = initial;
    this.#mostStates = mostStates;
    this.#steps = stepsOf(history);
    for (const { operation } of this.#steps) {
      const value = seenBy(operation);
      this.#toSee.set(value, (this.#toSee.get(value) ?? 0) + 1);
    }
    const start: State = { value: initial, done: new Set() };
    this.#states = new Map([[keyOf(start), start]]);
  }

  verdict(): RegisterVerdict {
    const answers = this.#steps
      .filter(({ operation }) => mustTakeEffect(operation))
      .sort((left, right) => left.operation.end - right.operation.end);
    let begun = 0;
    for (const answer of answers) {
      for (; begun < this.#steps.length; begun += 1) {
        const step = this.#steps[begun];
        if (step === undefined || step.operation.start > answer.operation.end) break;
        this.#open.set(step.index, step);
      }
      const violation = this.#answer(answer);
      if (violation !== undefined) return { violation, staleReads: this.#staleReads };
    }
    return { staleReads: this.#staleReads };
  }

  /** Explains an answer: afterwards its call has taken effect in every state. */
  #answer({ index, operation }: Step): RegisterViolation | undefined {
    const looked = this.#explore(index);
    const fitting = [...looked.values()].filter(({ done }) => done.has(index));
    const isCounted = operation.is === 'read' && operation.mayBeStale === true;
    if (fitting.length === 0) {
      const isStale = isCounted && this.#hasBeen(operation.found, operation.end);
      if (!isStale) {
        const possible = new Set([...looked.values()].map(({ value }) => value));
        return registerViolation(operation, [...possible], this.#history);
      }
      this.#staleReads.push(operation);
    }
    // What a stale read saw says nothing about the order of the others.
    this.#leave(index, isCounted ? [...this.#states.values()] : fitting);
    return undefined;
  }

  /** True if the value may have been written before a moment. */
  #hasBeen(value: RegisterValue, before: number): boolean {
    if (value === this.#initial || value === undefined) return true;
    return this.#steps.some(
      ({ operation }) => operation.is !== 'read' && valueAfter(operation) === value && operation.start <= before,
    );
  }

  /** Every state that open calls lead to, none further than the effect of the wanted one. */
  #explore(wanted: number): States {
    const looked = new Map<string, State>();
    for (const state of this.#states.values()) {
      const seen = this.#withReads(state);
      looked.set(keyOf(seen), seen);
    }
    // A map that grows is walked to its end.
    for (const state of looked.values()) {
      if (state.done.has(wanted)) continue;
      for (const next of this.#following(state)) looked.set(keyOf(next), next);
      if (looked.size > this.#mostStates) {
        throw new HistoryTooWideError(
          `${this.#open.size} calls overlap, which leaves more than ${this.#mostStates} states to look at: let fewer clients share a key, or end the history sooner`,
        );
      }
    }
    return looked;
  }

  *#following(state: State): Iterable<State> {
    let isDeleted = state.value === undefined;
    for (const { index, operation } of this.#open.values()) {
      if (operation.is === 'read' || state.done.has(index) || !fits(operation, state.value)) continue;
      if (operation.is === 'delete' && operation.outcome === 'unknown') {
        // Deletions that may never take effect are alike: the oldest stands for all, and only where there is something to delete.
        if (isDeleted) continue;
        isDeleted = true;
      }
      yield this.#withReads({ value: valueAfter(operation), done: new Set([...state.done, index]) });
    }
  }

  /** Open reads of what is there: they may as well see it now. */
  #withReads(state: State): State {
    const reads = [...this.#open.values()].filter(
      ({ index, operation }) => operation.is === 'read' && operation.found === state.value && !state.done.has(index),
    );
    if (reads.length === 0) return state;
    return { value: state.value, done: new Set([...state.done, ...reads.map(({ index }) => index)]) };
  }

  /** Forgets a call that is answered, and unknown changes whose value nobody sees anymore: they cannot matter now. */
  #leave(index: number, states: readonly State[]): void {
    const gone = new Set([index]);
    const answered = this.#open.get(index)?.operation;
    const value = answered === undefined ? undefined : seenBy(answered);
    const left = (this.#toSee.get(value) ?? 0) - 1;
    this.#toSee.set(value, left);
    if (value !== undefined && left === 0) {
      for (const step of this.#open.values()) {
        const { operation } = step;
        if (operation.is === 'read' || operation.outcome !== 'unknown') continue;
        if (valueAfter(operation) === value) gone.add(step.index);
      }
    }
    for (const one of gone) this.#open.delete(one);
    this.#states = new Map(
      states
        .map(({ value: held, done }): State => ({
          value: held,
          done: new Set([...done].filter((one) => !gone.has(one))),
        }))
        .map((state) => [keyOf(state), state]),
    );
  }
}

function fits(change: RegisterChange, value: RegisterValue): boolean {
  return change.is !== 'compare-and-set' || change.expected === value;
}
