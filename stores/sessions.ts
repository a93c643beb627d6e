import type { Clock, Timer } from '../runtime/clock.ts';
import { CircuitBreakers } from './circuit-breakers.ts';
import type { UseEnd } from './circuit-breakers.ts';
import type { Driver, Session } from './driver.ts';
import { guardSession } from './guard-session.ts';
import { StoreError } from './store-error.ts';

/** How long a pool keeps unused sessions. */
export interface SessionsOptions {
  readonly clock: Clock;
  /** Milliseconds without use after which a session is closed; default: five minutes. */
  readonly idleMs?: number;
  /** Called right before each call that changes a datastore; throws if this process must not act anymore. */
  readonly mayWrite?: () => void;
}

/** How a session is used. */
export interface UseOptions {
  /** Ends the wait for a connection. Work that has begun is not aborted, because it could still write after a later reconcile. */
  readonly signal?: AbortSignal;
  /** Use the datastore even while it is known not to answer. */
  readonly probe?: boolean;
}

interface Entry {
  readonly opening: Promise<Session>;
  users: number;
  /** True once the session is no longer lent: the last user closes it. */
  retired: boolean;
  idle: Timer | undefined;
  /** True once opening it has failed. */
  failed: boolean;
}

/**
 * A pool of open sessions, one per driver and configuration, so that a reconcile does not have to connect. A session is opened by its first
 * use, shared by all users, and closed when it was idle for a while, when its datastore could not be reached, and at the end. A
 * changed configuration has another checksum and thus another session; the previous one is closed when idle.
 */
export class Sessions implements AsyncDisposable {
  readonly #clock: Clock;
  readonly #idleMs: number;
  readonly #mayWrite: () => void;
  readonly #entries = new Map<string, Entry>();
  readonly #closing = new Set<Promise<void>>();
  readonly #breakers: CircuitBreakers;
  readonly #shutdown = new AbortController();

  constructor(options: SessionsOptions) {
    this.#clock = options.clock;
    this.#idleMs = options.idleMs ?? 300_000;
    this.#mayWrite = options.mayWrite ?? (() => undefined);
    this.#breakers = new CircuitBreakers(options.clock);
  }

  /**
   * Runs `work` with the session of this configuration. Throws what opening or `work` throws; after `StoreError` Unreachable or
   * Unauthorized, the next use opens a new session. For a datastore that was just found Unreachable, the same error is thrown at once.
   */
  async use<Config, T>(
    driver: Driver<Config>,
    config: Config,
    work: (session: Session) => Promise<T>,
    { signal, probe = false }: UseOptions = {},
  ): Promise<T> {
    this.#shutdown.signal.throwIfAborted();
    signal?.throwIfAborted();
    const key = `${driver.name} ${driver.checksum(config)}`;
    const end = this.#breakers.admit(key, probe);
    const entry = this.#entries.get(key) ?? this.#add(key, this.#open(driver, config));
    entry.users += 1;
    entry.idle?.cancel();
    try {
      const session = await unlessAborted(entry.opening, signal);
      const result = await work(session);
      end('answered');
      return result;
    } catch (error) {
      end(endOf(error));
      if (isBroken(error) || entry.failed) this.#retire(key, entry);
      throw error;
    } finally {
      entry.users -= 1;
      if (entry.users === 0) this.#rest(key, entry);
    }
  }

  /** How many sessions are open. */
  get size(): number {
    return this.#entries.size;
  }

  /** Refuses further use and closes every session once its users are done. */
  async [Symbol.asyncDispose](): Promise<void> {
    this.#shutdown.abort(new StoreError('Failed', 'the connections to datastores are being closed'));
    for (const [key, entry] of [...this.#entries]) {
      entry.idle?.cancel();
      this.#retire(key, entry);
      if (entry.users === 0) this.#close(entry);
    }
    while (this.#closing.size > 0) await Promise.all(this.#closing);
  }

  async #open<Config>(driver: Driver<Config>, config: Config): Promise<Session> {
    return guardSession(await driver.open(config, this.#shutdown.signal), this.#mayWrite);
  }

  #add(key: string, opening: Promise<Session>): Entry {
    const entry: Entry = { opening, users: 0, retired: false, idle: undefined, failed: false };
    this.#entries.set(key, entry);
    opening.catch(() => {
      entry.failed = true;
    });
    return entry;
  }

  #retire(key: string, entry: Entry): void {
    entry.retired = true;
    if (this.#entries.get(key) === entry) this.#entries.delete(key);
  }

  #rest(key: string, entry: Entry): void {
    if (entry.retired) {
      this.#close(entry);
      return;
    }
    entry.idle = this.#clock.after(this.#idleMs, () => {
      this.#breakers.forget(key);
      this.#retire(key, entry);
      this.#close(entry);
    });
  }

  #close(entry: Entry): void {
    const closing = entry.opening
      .then((session) => session[Symbol.asyncDispose]())
      // A session that never opened, or whose connection is lost, has nothing to close; its users got the error.
      .catch(() => undefined)
      .finally(() => this.#closing.delete(closing));
    this.#closing.add(closing);
  }
}

function isBroken(error: unknown): boolean {
  return error instanceof StoreError && (error.reason === 'Unreachable' || error.reason === 'Unauthorized');
}

function endOf(error: unknown): UseEnd {
  if (!(error instanceof StoreError)) return 'unknown';
  return error.reason === 'Unreachable' ? error : 'answered';
}

/** The result of the promise, or a rejection with the signal's reason as soon as it aborts. */
async function unlessAborted<T>(promise: Promise<T>, signal: AbortSignal | undefined): Promise<T> {
  if (signal === undefined) return promise;
  const { promise: aborted, reject } = Promise.withResolvers<never>();
  const abort = (): void => {
    reject(signal.reason as Error);
  };
  signal.addEventListener('abort', abort, { once: true });
  try {
    const result = await Promise.race([promise, aborted]);
    signal.throwIfAborted();
    return result;
  } finally {
    signal.removeEventListener('abort', abort);
  }
}
