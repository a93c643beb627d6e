import jsonpatch, { type Operation } from 'fast-json-patch';
import { apiVersionOf, type Key, type KindRef, type Manifest, type PolicyRule, type Resource } from '../../api/meta.ts';
import type { Draft } from '../../api/meta.ts';
import type {
  Cluster,
  DeleteOptions,
  ListOf,
  ListOptions,
  Patch,
  ReadOptions,
  WatchEvent,
  WatchOptions,
  WriteOptions,
  ApplyOptions,
} from '../../runtime/client/cluster.ts';
import { ApiError } from '../../runtime/client/errors.ts';
import { namespaceFor } from '../../runtime/client/request-path.ts';
import { allowsPath, authorize, type Attributes } from './fake-access.ts';
import { keyFields, type Call, type FakeFaults } from './fake-faults.ts';
import { refusals } from './fake-refusals.ts';
import { kindIdOf, type FakeStore, type Write } from './fake-store.ts';
import { watchStore, type WatchEnd } from './fake-watch.ts';
import { applyFields } from './field-managers.ts';
import { mergePatch } from './merge-patch.ts';
import { selects } from './selectors.ts';
import { copyOf, type StoredObject } from './stored-object.ts';

/** Answers by path; those without a query answer every query. */
export type Texts = Readonly<Record<string, string | ((path: string) => string)>>;

/** Whether somebody may do something, by the spec of a SubjectAccessReview. */
export type Allows = (asked: unknown) => boolean;

/** The common state of all clients of one fake server. */
export interface FakeServer {
  readonly store: FakeStore;
  readonly now: () => number;
  readonly absent: Set<string>;
  readonly texts: Texts;
  /** The answer to a SubjectAccessReview with this spec. */
  readonly allows: Allows;
  /** Wake-ups of open watches. */
  readonly ends: Set<(end: WatchEnd) => void>;
}

/** One user of the fake server. */
export class FakeClient implements Cluster {
  readonly name = 'fake';
  readonly #server: FakeServer;
  readonly #access: readonly PolicyRule[];
  readonly #faults: FakeFaults;
  readonly #closing = new AbortController();
  #lastContact: number | undefined;

  constructor(server: FakeServer, access: readonly PolicyRule[], faults: FakeFaults) {
    this.#server = server;
    this.#access = access;
    this.#faults = faults;
  }

  get<T extends Resource>(kind: KindRef<T>, key: Key, options: ReadOptions = {}): Promise<T | undefined> {
    return this.#call({ verb: 'get', kind, ...keyFields(key) }, options.signal, () => {
      this.#authorize({ verb: 'get', kind, ...address(kind, key) });
      if (this.#isAbsent(kind)) return undefined;
      const found = this.#server.store.get(kind, address(kind, key));
      return found === undefined ? undefined : present<T>(kind, found);
    });
  }

  list<T extends Resource>(kind: KindRef<T>, options: ListOptions = {}): Promise<ListOf<T>> {
    return this.#call({ verb: 'list', kind, namespace: options.namespace }, options.signal, () => {
      this.#authorize({ verb: 'list', kind, ...selectedBy(options) });
      const { objects, next } = pageOf(this.#server.store.list(kind).filter(selects(options)), options);
      return {
        items: objects.map((object) => present<T>(kind, object, options.metadataOnly)),
        resourceVersion: String(this.#server.store.revision),
        next,
      };
    });
  }

  async *watch<T extends Resource>(kind: KindRef<T>, options: WatchOptions): AsyncGenerator<WatchEvent<T>> {
    const ended = new AbortController();
    const listener = (reason: WatchEnd): void => {
      ended.abort(reason);
    };
    this.#server.ends.add(listener);
    try {
      const events = await this.#call({ verb: 'watch', kind, namespace: options.namespace }, options.signal, () => {
        this.#authorize({ verb: 'watch', kind, ...selectedBy(options) });
        if (options.resourceVersion === undefined) this.#authorize({ verb: 'list', kind, ...selectedBy(options) });
        return watchStore(this.#server.store, kind, options, ended.signal);
      });
      for await (const event of events) {
        this.#faults.refuseTheDead({ verb: 'watch', kind });
        this.#lastContact = this.#server.now();
        yield 'object' in event ? { ...event, object: present<T>(kind, event.object, options.metadataOnly) } : event;
      }
    } finally {
      this.#server.ends.delete(listener);
    }
  }

  create<T extends Resource>(kind: KindRef<T>, manifest: Manifest, options: WriteOptions = {}): Promise<T> {
    const body = copyOf(manifest) as StoredObject;
    return this.#call({ verb: 'create', kind, ...metaKey(body), ...callOptions(options), body }, options.signal, () => {
      this.#authorize({ verb: 'create', kind, namespace: body.metadata.namespace });
      if (kind.kind === 'SubjectAccessReview') {
        // It is answered, and not stored.
        return present<T>(kind, { ...body, status: { allowed: this.#server.allows(body.spec) } });
      }
      address(kind, metaKey(body));
      return present<T>(kind, this.#server.store.create(kind, body, write('Update', options)));
    });
  }

  async apply<T extends Resource>(kind: KindRef<T>, manifest: Manifest, options: ApplyOptions): Promise<T> {
    const body = copyOf(manifest) as StoredObject;
    const made: true[] = [];
    const object = await this.#call(
      { verb: 'apply', kind, ...metaKey(body), ...callOptions(options), body },
      options.signal,
      () => {
        const key = address(kind, metaKey(body));
        this.#authorize({ verb: 'patch', kind, ...key, subresource: options.subresource });
        if (body.apiVersion !== apiVersionOf(kind) || body.kind !== kind.kind) {
          throw new ApiError(
            400,
            'BadRequest',
            `${body.apiVersion} ${body.kind} is not ${apiVersionOf(kind)} ${kind.kind}`,
          );
        }
        if (body.metadata.managedFields !== undefined)
          throw new ApiError(400, 'BadRequest', 'metadata.managedFields must be nil');
        if (this.#server.store.get(kind, key) === undefined) made.push(true);
        return present<T>(kind, this.#applyTo(kind, key, body, options));
      },
    );
    if (made.length > 0) options.onCreated?.();
    return object;
  }

  patch<T extends Resource>(kind: KindRef<T>, key: Key, patch: Patch, options: WriteOptions = {}): Promise<T> {
    const call: Call = { verb: 'patch', kind, ...keyFields(key), ...callOptions(options), body: copyOf(patch.body) };
    return this.#call(call, options.signal, () => {
      const at = address(kind, key);
      this.#authorize({ verb: 'patch', kind, ...at, subresource: options.subresource });
      const old = this.#server.store.get(kind, at);
      if (old === undefined) throw refusals.notFound(kind, key.name);
      const next = patched(kind, old, patch);
      // Only a version that the patch itself names is a precondition.
      if (next.metadata.resourceVersion === old.metadata.resourceVersion) delete next.metadata.resourceVersion;
      return present<T>(kind, this.#server.store.update(kind, at, next, write('Update', options)));
    });
  }

  delete(kind: KindRef, key: Key, options: DeleteOptions = {}): Promise<boolean> {
    return this.#call({ verb: 'delete', kind, ...keyFields(key) }, options.signal, () => {
      const at = address(kind, key);
      this.#authorize({ verb: 'delete', kind, ...at });
      if (this.#isAbsent(kind)) return false;
      return this.#server.store.delete(kind, at, options);
    });
  }

  text(path: string, options: ReadOptions = {}): Promise<string> {
    return this.#call({ verb: 'text', path }, options.signal, () => {
      if (!allowsPath(this.#access, path)) {
        throw new ApiError(403, 'Forbidden', `forbidden: User "controller" cannot get path "${path}"`);
      }
      const { texts } = this.#server;
      const answer = texts[path] ?? texts[path.replace(/\?.*$/, '')];
      if (answer === undefined) throw refusals.absentKind();
      return typeof answer === 'string' ? answer : answer(path);
    });
  }

  async *lines(path: string, { signal }: { readonly signal: AbortSignal }): AsyncGenerator<string> {
    yield* (await this.text(path, { signal })).split('\n').filter((line) => line !== '');
  }

  lastContact(): number | undefined {
    return this.#lastContact;
  }

  close(): Promise<void> {
    this.#closing.abort(new Error('the connection has been closed'));
    return Promise.resolve();
  }

  #applyTo(kind: KindRef, key: Key, body: StoredObject, options: WriteOptions): StoredObject {
    const { store } = this.#server;
    const old = store.get(kind, key);
    const act = { ...write('Apply', options), applied: body };
    if (old === undefined) {
      if (options.subresource !== undefined) throw refusals.notFound(kind, key.name);
      if (body.metadata.uid !== undefined)
        throw refusals.conflict(kind, key.name, 'uid mismatch: the object does not exist');
      this.#authorize({ verb: 'create', kind, namespace: key.namespace });
      return store.create(kind, body, act);
    }
    const applied = ofSubresource(body, options.subresource);
    const next = applyFields(old, applied, store.managers(kind, key), act.writer);
    // As in a patch: only a version or uid that the manifest names is a precondition.
    const { resourceVersion, uid } = body.metadata;
    next.metadata = { ...next.metadata, ...(uid === undefined ? {} : { uid }) };
    delete next.metadata.resourceVersion;
    if (resourceVersion !== undefined) next.metadata.resourceVersion = resourceVersion;
    return store.update(kind, key, next, { ...act, applied });
  }

  #authorize(attributes: Attributes): void {
    authorize(this.#access, attributes);
  }

  async #call<R>(call: Call, signal: AbortSignal | undefined, work: () => R): Promise<R> {
    signal?.throwIfAborted();
    this.#closing.signal.throwIfAborted();
    return this.#faults.around(call, () => {
      signal?.throwIfAborted();
      this.#lastContact = this.#server.now();
      this.#server.store.endPods();
      if (call.verb !== 'get' && call.verb !== 'delete' && this.#isAbsent(call.kind)) throw refusals.absentKind();
      return work();
    });
  }

  #isAbsent(kind: KindRef | undefined): boolean {
    return kind !== undefined && this.#server.absent.has(kindIdOf(kind));
  }
}

/** What a client gets: its own copy, in the requested version. */
function present<T extends Resource>(kind: KindRef<T>, object: StoredObject, metadataOnly = false): T {
  const copy = copyOf(object);
  const type = { apiVersion: apiVersionOf(kind), kind: kind.kind };
  const seen: Draft = metadataOnly ? { ...type, metadata: copy.metadata } : { ...copy, ...type };
  return seen as T;
}

/** The key as the path of a request would have it. Throws `TypeError` when a namespace is missing. */
function address(kind: KindRef, key: Partial<Key>): Key {
  const namespace = namespaceFor(kind, key);
  return { name: key.name ?? '', namespace };
}

/** The requested page; the last name of a page marks the start of the next. */
function pageOf(
  all: readonly StoredObject[],
  { page }: ListOptions,
): { readonly objects: readonly StoredObject[]; readonly next?: string } {
  if (page === undefined) return { objects: all };
  const nameOf = (object: StoredObject | undefined): string =>
    `${object?.metadata.namespace ?? ''}/${object?.metadata.name ?? ''}`;
  const { from } = page;
  const left = from === undefined ? all : all.filter((object) => nameOf(object) > from);
  const objects = left.slice(0, page.limit);
  return left.length > objects.length ? { objects, next: nameOf(objects.at(-1)) } : { objects };
}

const metaKey = ({ metadata: { name, namespace } }: StoredObject): Partial<Key> => ({ name, namespace });

/** What RBAC knows of a list or a watch: also the name, where the selection is of one. */
function selectedBy(options: ListOptions | WatchOptions): Partial<Key> {
  const [, name] = /^metadata\.name=([^,]+)$/.exec(options.fieldSelector ?? '') ?? [];
  return { namespace: options.namespace, name };
}

const callOptions = ({
  subresource,
  fieldManager,
  dryRun,
}: WriteOptions): Pick<Call, 'fieldManager' | 'subresource' | 'dryRun'> => ({ subresource, fieldManager, dryRun });

function write(operation: 'Apply' | 'Update', options: WriteOptions): Write {
  const writer = { name: options.fieldManager ?? 'unknown', operation, subresource: options.subresource ?? '' };
  return { writer, dryRun: options.dryRun ?? false };
}

/** The fields a subresource lets through: an apply to the object ignores status, one to status ignores all else. */
function ofSubresource(object: StoredObject, subresource: string | undefined): StoredObject {
  const { apiVersion, kind, metadata, status, ...rest } = object;
  if (subresource !== 'status') return { apiVersion, kind, metadata, ...rest };
  const { name, namespace } = metadata;
  return { apiVersion, kind, metadata: { name, namespace }, status };
}

function patched(kind: KindRef, old: StoredObject, patch: Patch): StoredObject {
  const target = copyOf(old);
  if (patch.type === 'merge') return mergePatch(target, copyOf(patch.body)) as StoredObject;
  try {
    return jsonpatch.applyPatch(target, copyOf(patch.body) as Operation[], true).newDocument;
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    throw refusals.invalid(
      kind,
      old.metadata.name ?? '',
      `the server rejected our request due to an error in our request: ${reason}`,
    );
  }
}
