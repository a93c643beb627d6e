import type { Key } from '../../api/meta.ts';
import { textOf } from '../../runtime/object-id.ts';

interface Waiting {
  readonly requester: Key;
  enter(): void;
}

/**
 * Lets so many at a time do something. One requester has one turn at a time, and turns go round: first among namespaces, where one
 * whose work does not run yet comes first, then among the names of a namespace. So who asks often, or takes long, waits for itself.
 */
export class Turns {
  readonly #atOnce: number;
  /** Who waits, in order of arrival. */
  readonly #line: Waiting[] = [];
  readonly #running: Key[] = [];
  /** When a namespace, or a requester, had its last turn; kept only while somebody of it runs or waits. */
  readonly #served = new Map<string, number>();
  #count = 0;

  constructor(atOnce: number) {
    this.#atOnce = atOnce;
  }

  /** Requests that wait for their turn. */
  get waiting(): number {
    return this.#line.length;
  }

  /** Runs `work` when it is its turn. Whoever is aborted while waiting gives up the turn. */
  async run<T>(requester: Key, work: () => Promise<T>, signal: AbortSignal): Promise<T> {
    await this.#enter(requester, signal);
    try {
      return await work();
    } finally {
      this.#running.splice(this.#running.indexOf(requester), 1);
      this.#next();
    }
  }

  async #enter(requester: Key, signal: AbortSignal): Promise<void> {
    signal.throwIfAborted();
    await new Promise<void>((resolve, reject) => {
      const waiting: Waiting = {
        requester,
        enter: () => {
          signal.removeEventListener('abort', onAbort);
          resolve();
        },
      };
      const onAbort = (): void => {
        this.#line.splice(this.#line.indexOf(waiting), 1);
        this.#forget();
        reject(signal.reason as Error);
      };
      signal.addEventListener('abort', onAbort, { once: true });
      this.#line.push(waiting);
      // Whoever comes joins at the end of the round: those who come again and again would overtake all who wait.
      for (const name of namesOf(requester)) this.#served.set(name, this.#served.get(name) ?? this.#count);
      this.#next();
    });
  }

  #next(): void {
    while (this.#running.length < this.#atOnce) {
      const chosen = this.#first();
      if (chosen === undefined) break;
      this.#line.splice(this.#line.indexOf(chosen), 1);
      // The very object, so that its own end takes it out again.
      this.#running.push(chosen.requester);
      this.#count += 1;
      for (const name of namesOf(chosen.requester)) this.#served.set(name, this.#count);
      chosen.enter();
    }
    this.#forget();
  }

  /** Who is next of those that have no turn. The line is short: it holds no more than the visits that run. */
  #first(): Waiting | undefined {
    const busy = new Set(this.#running.map(textOf));
    const free = this.#line.filter(({ requester }) => !busy.has(textOf(requester)));
    // The sort is stable: among equals the first that came.
    return free.sort((a, b) => this.#compare(a.requester, b.requester))[0];
  }

  #compare(a: Key, b: Key): number {
    const at = (key: Key) => namesOf(key).map((name) => this.#served.get(name) ?? 0);
    const [namespaceOfA = 0, nameOfA = 0] = at(a);
    const [namespaceOfB = 0, nameOfB = 0] = at(b);
    return this.#runningIn(a) - this.#runningIn(b) || namespaceOfA - namespaceOfB || nameOfA - nameOfB;
  }

  #runningIn({ namespace }: Key): number {
    return this.#running.filter((key) => key.namespace === namespace).length;
  }

  #forget(): void {
    const known = new Set([...this.#running, ...this.#line.map(({ requester }) => requester)].flatMap(namesOf));
    for (const name of this.#served.keys()) if (!known.has(name)) this.#served.delete(name);
  }
}

/** What turns go round among; a namespace and a name can be told apart by the slash. */
const namesOf = (key: Key): readonly [string, string] => [`${key.namespace ?? ''}/`, textOf(key)];
