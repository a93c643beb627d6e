import type { Draft, KindRef, Manifest, PolicyRule, Resource } from '../../api/meta.ts';
import type { Cluster } from '../../runtime/client/cluster.ts';
import { admitBySchema } from './admit-by-schema.ts';
import { FakeClient, type Allows, type FakeServer, type Texts } from './fake-client.ts';
import { everything, FakeFaults, type Call, type CallMatch } from './fake-faults.ts';
import { FakeStore, kindIdOf, type Admit } from './fake-store.ts';
import { omit } from './stored-object.ts';
import type { StoredObject } from './stored-object.ts';

export interface FakeClusterOptions {
  /** The permissions of its user; by default all. `admin` is never restricted. */
  readonly access?: readonly PolicyRule[];
  /** Milliseconds since the epoch, for time stamps. */
  readonly now?: () => number;
  /** Defaulting, pruning and validation; by default `admitBySchema`. */
  readonly admit?: Admit;
  /** False: dependents stay until `collectGarbage` is called. True by default. */
  readonly collectsGarbage?: boolean;
  /** True: a namespace has to be created before anything in it. False by default: every namespace exists. */
  readonly declaresNamespaces?: boolean;
  /** Kinds the server does not know until `serve` is called. */
  readonly absent?: readonly KindRef[];
  /** Answers of `text`, by path; `/version` and the health paths are there already. */
  readonly texts?: Texts;
  /** The answers to SubjectAccessReviews; by default, nobody may do anything. */
  readonly allows?: Allows;
}

/**
 * An API server in memory. Through it itself calls are recorded, counted, authorized and made to fail; `admin` is the
 * same server for a test's own use: unrestricted, unrecorded and never failing.
 */
export class FakeCluster extends FakeClient {
  readonly admin: Cluster;
  /** Opens one more connection of the same user, for a test in which a connection is closed and opened again. */
  readonly open: () => Cluster;
  readonly #store: FakeStore;
  readonly #faults: FakeFaults;
  readonly #server: FakeServer;

  constructor(options: FakeClusterOptions = {}) {
    const now = options.now ?? Date.now;
    const store = new FakeStore({
      now,
      admit: options.admit ?? admitBySchema,
      collectsGarbage: options.collectsGarbage ?? true,
      declaresNamespaces: options.declaresNamespaces ?? false,
    });
    const texts = {
      '/version': JSON.stringify({ major: '1', minor: '36', gitVersion: 'v1.36.3' }),
      ...Object.fromEntries(['/readyz', '/livez', '/healthz'].map((path) => [path, 'ok'])),
      ...options.texts,
    };
    const absent = new Set((options.absent ?? []).map(kindIdOf));
    const allows = options.allows ?? (() => false);
    const server: FakeServer = { store, now, absent, texts, allows, ends: new Set() };
    const faults = new FakeFaults();
    const access = options.access ?? everything;
    super(server, access, faults);
    this.open = () => new FakeClient(server, access, faults);
    this.#store = store;
    this.#server = server;
    this.#faults = faults;
    this.admin = new FakeClient(server, everything, new FakeFaults({ records: false }));
  }

  /** Holds what another server holds, in place of what it held; its calls, faults and hooks are its own. No watch may be open. */
  copyFrom(other: FakeCluster): void {
    if (this.#server.ends.size > 0) throw new Error('a watch is open, which would not hear of it');
    this.#store.copyFrom(other.#store);
    this.#server.absent.clear();
    for (const kind of other.#server.absent) this.#server.absent.add(kind);
  }

  /** Every object of every kind, as it is stored. */
  everything(): readonly StoredObject[] {
    return this.#store.everything();
  }

  /** Every call so far, watches included, in order. */
  get calls(): readonly Call[] {
    return this.#faults.calls;
  }

  /** True after the call at which `crashAfter` lets it die. */
  get crashed(): boolean {
    return this.#faults.crashed;
  }

  /** Stores an object with its status as another client would have left it, with a UID of its own; replaces one of the same name. */
  async seed<T extends Resource>(
    kind: KindRef<T>,
    object: Manifest | (Draft & { readonly status?: unknown }),
  ): Promise<T> {
    const key = {
      name: object.metadata.name ?? '',
      ...(kind.namespaced ? { namespace: object.metadata.namespace ?? '' } : {}),
    };
    await this.admin.apply<T>(
      kind,
      {
        ...object,
        metadata: { ...omit(object.metadata, 'namespace', 'uid', 'resourceVersion', 'generation'), ...key },
      },
      { fieldManager: 'seed' },
    );
    if (object.status !== undefined) {
      await this.admin.patch<T>(
        kind,
        key,
        { type: 'merge', body: { status: object.status } },
        { subresource: 'status' },
      );
    }
    const stored = await this.admin.get<T>(kind, key);
    if (stored === undefined)
      throw new Error(`${kind.kind} ${key.name} was not stored: it is being deleted and has no finalizer`);
    return stored;
  }

  /** The next `times` calls that match throw `error` and have no effect. */
  failNext(match: CallMatch, error: Error, times = 1): void {
    this.#faults.failNext(match, error, times);
  }

  /** Called before each call takes effect; may wait or throw. Returns its removal. */
  before(hook: (call: Call) => void | Promise<void>): () => void {
    return this.#faults.before(hook);
  }

  /** Called after each successful call, before the caller has the answer. Returns its removal. */
  after(hook: (call: Call) => void | Promise<void>): () => void {
    return this.#faults.after(hook);
  }

  /**
   * The process dies after `calls` more calls: every later one throws `CrashError`, open watches too. With `losesAnswer`
   * the last one takes effect but its answer never arrives. `restart` makes the client a new process.
   */
  crashAfter(calls: number, options: { readonly losesAnswer?: boolean } = {}): void {
    this.#faults.crashAfter(calls, options.losesAnswer ?? false);
  }

  restart(): void {
    this.#faults.restart();
  }

  /** Forgets the history: versions before now are answered with 410. */
  compact(): void {
    this.#store.compact();
  }

  /** Forgets what is past, calls and history, so that a long run is not measured by what this server remembers. */
  forgetPast(): void {
    this.#store.compact();
    this.#faults.calls.length = 0;
  }

  /** Ends every open watch: cleanly, or by throwing `error` into it. */
  endWatches(error?: Error): void {
    for (const end of [...this.#server.ends]) end({ error });
  }

  /** Makes a kind that was absent (or withdrawn) known. */
  serve(kind: KindRef): void {
    this.#server.absent.delete(kindIdOf(kind));
  }

  /** Withdraws a kind as the deletion of its CRD does. */
  withdraw(kind: KindRef): void {
    this.#server.absent.add(kindIdOf(kind));
  }

  /** What the garbage collector would do, at once. */
  collectGarbage(): void {
    this.#store.collectGarbage();
  }
}
