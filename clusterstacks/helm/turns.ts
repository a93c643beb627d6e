import type { Key } from '../../api/meta.ts';
import { textOf } from '../../runtime/cache/object-id.ts';

interface Waiting {
  readonly requester: Key;
  enter(): void;
}

/**
 * Limits how much work runs at a time, fairly. A requester has one turn at a time, and turns rotate: first between
 * namespaces, those without running work first, then between the names of a namespace. So a requester with many or long
 * requests only delays itself.
 */
export class Turns {
  readonly #atOnce: number;
  /** Waiting requests, in order of arrival. */
  readonly #line: Waiting[] = [];
  readonly #running: Key[] = [];
  /** When a namespace, or a requester, had its last turn; remembered only while work of it runs or waits. */
  readonly #served = new Map<string, number>();
  #count = 0;

  constructor(atOnce: number) {
    this.#atOnce = atOnce;
  }

  /** Requests that wait for their turn. */
  get waiting(): number {
    return this.#line.length;
  }

  /** Runs `work` when it is its turn. An abort while waiting gives up the turn. */
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
      // A newcomer joins at the end of the round; otherwise those that return often would overtake all that wait.
      for (const name of namesOf(requester)) this.#served.set(name, this.#served.get(name) ?? this.#count);
      this.#next();
    });
  }

  #next(): void {
    while (this.#running.length < this.#atOnce) {
      const chosen = this.#first();
      if (chosen === undefined) break;
      this.#line.splice(this.#line.indexOf(chosen), 1);
      // This very object, because the end of its work removes it by identity.
      this.#running.push(chosen.requester);
      this.#count += 1;
      for (const name of namesOf(chosen.requester)) this.#served.set(name, this.#count);
      chosen.enter();
    }
    this.#forget();
  }

  /** The next request of a requester without a turn. The line is short: it has at most one entry per running reconcile. */
  #first(): Waiting | undefined {
    const busy = new Set(this.#running.map(textOf));
    const free = this.#line.filter(({ requester }) => !busy.has(textOf(requester)));
    // The sort is stable: among equals, the first in the line.
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

/** The names between which turns rotate; a namespace ends with a slash. */
const namesOf = (key: Key): readonly [string, string] => [`${key.namespace ?? ''}/`, textOf(key)];
