import { setTimeout as delay } from 'node:timers/promises';
import type { ApiServerHand, DataTenant, VersionedValue } from '../tenancy-data-contract.ts';
import { checkRegister } from './check-register.ts';
import type { ChangeOutcome, RegisterOperation, RegisterValue } from './register-operation.ts';
import type { RegisterViolation } from './register-violation.ts';

/** How the clients of a tenant work. */
export interface RegisterClientsOptions {
  /** Part of keys and values, so that several groups can use one tenant. */
  readonly name: string;
  /** Milliseconds between the calls for one key and those for the next; 500 by default. */
  readonly pauseMs?: number;
  /**
   * What a refused update says. kine answers as to a conflict whenever its database fails, also if the update took effect
   * (pkg/logstructured/logstructured.go); where databases fail, its conflicts are therefore `unknown`. By default `failed`: without effect.
   */
  readonly conflicts?: 'failed' | 'unknown';
}

/** What a history came to. */
export interface RegisterResult {
  readonly operations: number;
  readonly changes: number;
  /** Changes of which the client does not know whether they took effect. */
  readonly unknown: number;
  /** Only where reads may lag; elsewhere they are violations. */
  readonly staleReads: number;
  readonly violations: readonly RegisterViolation[];
}

const clients = 3;

/** As NATS keeps ten versions of a key, no key may change often while a datastore is read. */
const keys = Array.from({ length: 48 }, (_, index) => String(index));

/** All clients use the same key at once for so many calls; then they pause, and take the next one. */
const callsOfKey = 12;

/** What a client does in turn. */
const turns = ['read', 'update', 'write', 'update', 'read', 'update', 'delete', 'create', 'update', 'read'] as const;

/** What is expected of the store behind the hands. */
type Store = Pick<DataTenant, 'peculiarities'>;

interface Connection {
  readonly hands: readonly ApiServerHand[];
  readonly store: Store;
}

/** Several clients of a tenant that read, write, update and delete the same keys, and keep a history of each key. */
export class RegisterClients implements AsyncDisposable {
  readonly #options: RegisterClientsOptions;
  readonly #histories = new Map<string, RegisterOperation[]>();
  readonly #working: readonly Promise<void>[];
  #connection: Connection;
  #over = false;
  #count = 0;
  #answered = 0;
  readonly #waiting = new Set<{ readonly enough: number; readonly resolve: (value: undefined) => void }>();

  /** The clients take turns on the hands: those of several API servers of one tenant. */
  constructor(hands: readonly ApiServerHand[], store: Store, options: RegisterClientsOptions) {
    this.#connection = { hands, store };
    this.#options = options;
    this.#working = Array.from({ length: clients }, (_, client) => this.#work(client));
  }

  /** The API servers run on another store from now on; clients keep the versions that they know. */
  moveTo(hands: readonly ApiServerHand[], store: Store): void {
    this.#connection = { hands, store };
  }

  /** Changes that were acknowledged so far. */
  get answered(): number {
    return this.#answered;
  }

  /** Resolves when so many more changes were acknowledged. */
  async answers(more: number): Promise<void> {
    const { promise, resolve } = Promise.withResolvers<undefined>();
    this.#waiting.add({ enough: this.#answered + more, resolve });
    await promise;
  }

  /** Ends the work. */
  async end(): Promise<void> {
    this.#over = true;
    await Promise.all(this.#working);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.end();
  }

  /** Adds what a store has now to the history, read by itself and not by kine. */
  async observe(content: () => Promise<ReadonlyMap<string, string>>): Promise<void> {
    const start = performance.now();
    const found = await content();
    const call = { is: 'read', client: 'observer', start, end: performance.now() } as const;
    for (const key of keys) this.#note(key, { ...call, found: found.get(this.#keyOf(key)) });
  }

  /** Checks the history of each key. */
  result(): RegisterResult {
    const operations = [...this.#histories.values()].flat();
    const verdicts = [...this.#histories.values()].map((history) => checkRegister(history));
    const changes = operations.filter((one) => one.is !== 'read');
    return {
      operations: operations.length,
      changes: changes.filter(({ outcome }) => outcome === 'ok').length,
      unknown: changes.filter(({ outcome }) => outcome === 'unknown').length,
      staleReads: verdicts.reduce((sum, { staleReads }) => sum + staleReads.length, 0),
      violations: verdicts.flatMap(({ violation }) => (violation === undefined ? [] : [violation])),
    };
  }

  #acknowledge(): void {
    this.#answered += 1;
    for (const one of this.#waiting) {
      if (this.#answered < one.enough) continue;
      this.#waiting.delete(one);
      one.resolve(undefined);
    }
  }

  #keyOf(key: string): string {
    return `configmaps/registers/${this.#options.name}-${key}`;
  }

  #note(key: string, operation: RegisterOperation): void {
    const history = this.#histories.get(key) ?? [];
    history.push(operation);
    this.#histories.set(key, history);
  }

  async #work(client: number): Promise<void> {
    const known = new Map<string, VersionedValue | undefined>();
    for (let turn = client; !this.#over; turn += 1) {
      const round = Math.floor(this.#count / callsOfKey);
      const key = keys[round % keys.length] ?? '';
      const is = turns[turn % turns.length] ?? 'read';
      const {
        hands,
        store: { peculiarities = [] },
      } = this.#connection;
      const readsLag = peculiarities.includes('reads lag');
      const hand = hands[client % hands.length];
      if (hand === undefined) throw new Error('there is no API server for the clients');
      const call = new RegisterCall(hand, this.#keyOf(key), {
        client: `client-${client}`,
        readsLag,
        deletesTwice: peculiarities.includes('deletes with two writes'),
        conflicts: this.#options.conflicts ?? 'failed',
      });
      this.#count += 1;
      const value = `${this.#options.name} ${this.#count} of client ${client}`;
      // Where reads lag, so does the look of a deletion without a version whether there is something to delete.
      const way = is === 'delete' && readsLag ? 'deleteVersion' : is;
      known.set(key, await call.run(way, value, known.get(key)));
      for (const operation of call.operations) {
        this.#note(key, operation);
        if (operation.is !== 'read' && operation.outcome === 'ok') this.#acknowledge();
      }
      if (Math.floor(this.#count / callsOfKey) !== round) await delay(this.#options.pauseMs ?? 500);
    }
  }
}

type Way = (typeof turns)[number] | 'deleteVersion';

interface Caller {
  readonly client: string;
  readonly readsLag: boolean;
  readonly deletesTwice: boolean;
  readonly conflicts: 'failed' | 'unknown';
}

const textOf = (version: VersionedValue | undefined): RegisterValue =>
  version === undefined ? undefined : Buffer.from(version.value).toString();

/** One call on one key, and what it adds to the history. */
class RegisterCall {
  readonly operations: RegisterOperation[] = [];
  readonly #hand: ApiServerHand;
  readonly #key: string;
  readonly #caller: Caller;
  readonly #start = performance.now();

  constructor(hand: ApiServerHand, key: string, caller: Caller) {
    this.#hand = hand;
    this.#key = key;
    this.#caller = caller;
  }

  /** Returns what the client knows of the key afterwards. */
  async run(way: Way, value: string, known: VersionedValue | undefined): Promise<VersionedValue | undefined> {
    switch (way) {
      case 'read':
        return this.#read(known);
      case 'write':
        return this.#write(value);
      case 'delete':
        return this.#delete();
      case 'create':
        return this.#replace(undefined, value);
      case 'update':
        return this.#replace(known, value);
      case 'deleteVersion':
        return known === undefined ? this.#read(known) : this.#replace(known, undefined);
    }
  }

  async #read(known: VersionedValue | undefined): Promise<VersionedValue | undefined> {
    try {
      const version = await this.#hand.getVersion(this.#key);
      this.#saw(version);
      return version;
    } catch {
      // A read without an answer tells nothing.
      return known;
    }
  }

  async #write(value: string): Promise<VersionedValue | undefined> {
    const bytes = Buffer.from(value);
    try {
      const revision = await this.#hand.put(this.#key, bytes);
      this.operations.push({ ...this.#call(), is: 'write', value, outcome: 'ok' });
      return { value: bytes, revision };
    } catch (error) {
      this.operations.push({ ...this.#call(), is: 'write', value, outcome: outcomeOf(error) });
      return undefined;
    }
  }

  async #delete(): Promise<undefined> {
    try {
      await this.#hand.delete(this.#key);
      this.operations.push({ ...this.#call(), is: 'delete', outcome: 'ok' });
    } catch (error) {
      this.operations.push({ ...this.#call(), is: 'delete', outcome: outcomeOf(error) });
    }
  }

  async #replace(known: VersionedValue | undefined, value: RegisterValue): Promise<VersionedValue | undefined> {
    const bytes = value === undefined ? undefined : Buffer.from(value);
    const change = { is: 'compare-and-set', expected: textOf(known), value } as const;
    try {
      const replaced = await this.#hand.replace(this.#key, known?.revision ?? 0n, bytes);
      const isDone = replaced.is === 'done';
      this.operations.push({ ...this.#call(), ...change, outcome: isDone ? 'ok' : this.#refused(value) });
      if (isDone) return bytes && { value: bytes, revision: replaced.revision };
      if (replaced.found !== undefined) this.#saw(replaced.found.version);
      return replaced.found?.version;
    } catch (error) {
      this.operations.push({ ...this.#call(), ...change, outcome: outcomeOf(error) });
      return undefined;
    }
  }

  /**
   * What a refusal says. Where a deletion is two writes, the key is gone after the first; kine answers as to a conflict if another client
   * creates the key before the second (pkg/drivers/nats/backend.go).
   */
  #refused(value: RegisterValue): ChangeOutcome {
    const { deletesTwice, conflicts } = this.#caller;
    return value === undefined && deletesTwice ? 'unknown' : conflicts;
  }

  #saw(version: VersionedValue | undefined): void {
    const mayBeStale = this.#caller.readsLag;
    this.operations.push({ ...this.#call(), is: 'read', found: textOf(version), ...(mayBeStale && { mayBeStale }) });
  }

  #call(): { readonly client: string; readonly start: number; readonly end: number } {
    return { client: this.#caller.client, start: this.#start, end: performance.now() };
  }
}

/** etcd refuses by permission before it does anything; after any other error nobody knows. */
function outcomeOf(error: unknown): ChangeOutcome {
  return error instanceof Error && /permission denied/i.test(error.message) ? 'failed' : 'unknown';
}
