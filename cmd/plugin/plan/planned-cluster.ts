import { randomUUID } from 'node:crypto';
import { apiVersionOf } from '../../../api/meta.ts';
import type { Draft, Key, KindRef, Manifest, Resource } from '../../../api/meta.ts';
import { isRecord } from '../../../api/structural/is-record.ts';
import { ApiError } from '../../../runtime/client/errors.ts';
import type {
  ApplyOptions,
  Cluster,
  DeleteOptions,
  ListOf,
  ListOptions,
  Patch,
  WatchEvent,
  WatchOptions,
  WriteOptions,
} from '../../../runtime/client/cluster.ts';
import type { ObjectReader } from '../explain/object-reader.ts';
import { isSameJson } from './is-same-json.ts';
import { labelTest } from './label-test.ts';
import { mergeApplied } from './merge-applied.ts';
import { mergePatched } from './merge-patched.ts';
import { nodePortsOf, withReadyPods, withServerChoices } from './server-choices.ts';

/** What a planned cluster is made of. */
export interface PlannedClusterOptions {
  /** Where objects come from that nothing was written to; without it, there are none. */
  readonly reader?: Pick<ObjectReader, 'read' | 'list'>;
  /** Kinds of which there are no objects: what controllers of Kubernetes make, and follows from the rest. */
  readonly derived?: ReadonlySet<string>;
  /** Answers to raw requests, by path. */
  readonly texts?: Readonly<Record<string, string>>;
  readonly now: () => Date;
}

interface Entry {
  readonly kind: KindRef;
  /** As it was read; undefined if it did not exist. */
  readonly original: Resource | undefined;
  /** As it would be; undefined if it would not exist. */
  readonly present: Resource | undefined;
}

/** The objects of a cluster: as they were read, or as they would be. */
export type Contents = ReadonlyMap<string, Entry>;

const copyOf = <T>(value: T): T => structuredClone(value);
const idOf = (kind: KindRef, { namespace = '', name }: Key): string =>
  `${kind.group}/${kind.kind} ${kind.namespaced ? namespace : ''}/${name}`;

/**
 * A cluster in memory: reads come from a real one, and what is written stays here. This shows what the controllers would do.
 * Pods are ready as soon as a Deployment wants them.
 */
export class PlannedCluster implements Cluster {
  readonly name = 'plan';
  /** Grows with every write that changes something. */
  writes = 0;
  readonly #options: PlannedClusterOptions;
  readonly #entries = new Map<string, Entry>();
  readonly #applied = new Map<string, Manifest>();
  readonly #lists = new Map<string, Promise<void>>();
  #failure: Error | undefined;

  constructor(options: PlannedClusterOptions) {
    this.#options = options;
  }

  /** The first error of the reader: what is planned without the object would be wrong. */
  get failure(): Error | undefined {
    return this.#failure;
  }

  /** What is known now. Later writes do not change it. */
  contents(): Contents {
    return new Map(this.#entries);
  }

  /** All objects of a kind that are known now. */
  known<T extends Resource>(kind: KindRef<T>): readonly T[] {
    return this.#present(kind, '', '') as readonly T[];
  }

  /** Puts an object in place, as another client would. */
  async put(kind: KindRef, object: Resource): Promise<void> {
    const key = keyIn(object);
    await this.get(kind, key);
    this.#store(kind, key, object);
  }

  async get<T extends Resource>(kind: KindRef<T>, key: Key): Promise<T | undefined> {
    const id = idOf(kind, key);
    if (!this.#entries.has(id)) {
      const { reader, derived } = this.#options;
      const isRead = reader !== undefined && derived?.has(kind.kind) !== true;
      const found = isRead ? await this.#orFail(reader.read(kind, key)) : undefined;
      if (!this.#entries.has(id)) this.#entries.set(id, { kind, original: found, present: found });
    }
    return copyOf(this.#entries.get(id)?.present) as T | undefined;
  }

  async list<T extends Resource>(kind: KindRef<T>, options: ListOptions = {}): Promise<ListOf<T>> {
    const { namespace = '', labelSelector = '' } = options;
    const id = `${kind.group}/${kind.kind} ${namespace} ${labelSelector}`;
    let reading = this.#lists.get(id);
    if (reading === undefined) this.#lists.set(id, (reading = this.#read(kind, { namespace, labelSelector })));
    await reading;
    const items = copyOf(this.#present(kind, namespace, labelSelector) as readonly T[]);
    return { items, resourceVersion: String(this.writes) };
  }

  async *watch<T extends Resource>(_kind: KindRef<T>, { signal }: WatchOptions): AsyncIterable<WatchEvent<T>> {
    if (!signal.aborted)
      await new Promise<void>((resolve) => {
        const end = (): void => {
          resolve();
        };
        signal.addEventListener('abort', end, { once: true });
      });
    yield* [];
  }

  async create<T extends Resource>(kind: KindRef<T>, manifest: Manifest, options: WriteOptions = {}): Promise<T> {
    const key = keyIn(manifest);
    if ((await this.get(kind, key)) !== undefined)
      throw new ApiError(409, 'AlreadyExists', `${kind.plural} "${key.name}" already exists`);
    return this.#write(kind, key, withoutUndefined(manifest), options);
  }

  async apply<T extends Resource>(kind: KindRef<T>, manifest: Manifest, options: ApplyOptions): Promise<T> {
    const key = keyIn(manifest);
    const id = idOf(kind, key);
    const next = withoutUndefined(manifest);
    const live = await this.get(kind, key);
    const merged = live === undefined ? next : mergeApplied(live, this.#applied.get(id), next);
    if (options.dryRun !== true) this.#applied.set(id, next);
    return this.#write(kind, key, merged as Draft, options);
  }

  async patch<T extends Resource>(kind: KindRef<T>, key: Key, patch: Patch, options: WriteOptions = {}): Promise<T> {
    if (patch.type !== 'merge') throw new Error('plans support only merge patches');
    const live = await this.get(kind, key);
    if (live === undefined) throw new ApiError(404, 'NotFound', `${kind.plural} "${key.name}" not found`);
    const patched = mergePatched(live, patch.body) as Resource & { readonly status?: unknown };
    const isStatus = options.subresource === 'status';
    const { status } = live as Resource & { readonly status?: unknown };
    const next = isStatus ? { ...live, status: patched.status } : { ...patched, status };
    return this.#write(kind, key, withoutUndefined(next), options);
  }

  async delete(kind: KindRef, key: Key, options: DeleteOptions = {}): Promise<boolean> {
    const live = await this.get(kind, key);
    if (live === undefined || (options.uid !== undefined && options.uid !== live.metadata.uid)) return false;
    this.#store(kind, key, undefined);
    return true;
  }

  text(path: string): Promise<string> {
    const answer = this.#options.texts?.[path.split('?')[0] ?? ''];
    return answer === undefined
      ? Promise.reject(new ApiError(404, 'NotFound', `there is nothing at ${path}`))
      : Promise.resolve(answer);
  }

  async *lines(path: string): AsyncGenerator<string> {
    yield* (await this.text(path)).split('\n').filter((line) => line !== '');
  }

  lastContact(): undefined {
    return undefined;
  }

  close(): Promise<void> {
    return Promise.resolve();
  }

  #present(kind: KindRef, namespace: string, labelSelector: string): readonly Resource[] {
    const test = labelTest(labelSelector);
    const ofKind = [...this.#entries.values()].filter(
      ({ kind: { group, kind: name } }) => group === kind.group && name === kind.kind,
    );
    return ofKind
      .flatMap(({ present }) => (present === undefined ? [] : [present]))
      .filter(({ metadata }) => namespace === '' || metadata.namespace === namespace)
      .filter(({ metadata }) => test(metadata.labels ?? {}));
  }

  async #read(kind: KindRef, selection: { readonly namespace: string; readonly labelSelector: string }): Promise<void> {
    const { reader, derived } = this.#options;
    if (reader === undefined || derived?.has(kind.kind) === true) return;
    const { namespace, labelSelector } = selection;
    const wanted = { ...(namespace !== '' && { namespace }), ...(labelSelector !== '' && { labelSelector }) };
    const found = await this.#orFail(reader.list(kind, wanted));
    if (found === undefined) throw new ApiError(404, 'NotFound', 'the server could not find the requested resource');
    for (const object of found) {
      const id = idOf(kind, keyIn(object));
      if (!this.#entries.has(id)) this.#entries.set(id, { kind, original: object, present: object });
    }
  }

  async #orFail<T>(work: Promise<T>): Promise<T> {
    try {
      return await work;
    } catch (error) {
      this.#failure ??= error instanceof Error ? error : new Error(String(error));
      throw error;
    }
  }

  /** Stores what a request led to, with what the API server itself adds. */
  #write<T extends Resource>(kind: KindRef<T>, key: Key, object: Draft, options: WriteOptions): T {
    const before = this.#entries.get(idOf(kind, key))?.present;
    const taken = new Set(
      [...this.#entries.values()].flatMap(({ present }) =>
        present === undefined || present === before ? [] : nodePortsOf(present),
      ),
    );
    const typed = { ...object, apiVersion: apiVersionOf(kind), kind: kind.kind };
    const complete = withServerChoices(typed, kind.kind === 'Service' ? taken : new Set());
    const stored = this.#numbered(kind, complete, before);
    if (options.dryRun === true || (before !== undefined && isSameJson(before, stored))) return copyOf(stored) as T;
    const isStatus = options.subresource === 'status';
    this.#store(kind, key, isStatus ? stored : withReadyPods(stored));
    return copyOf(this.#entries.get(idOf(kind, key))?.present) as T;
  }

  /** The object with the metadata that the API server keeps. */
  #numbered(kind: KindRef, object: Draft, before: Resource | undefined): Resource {
    const spec = (of: object | undefined): unknown => (of as { readonly spec?: unknown } | undefined)?.spec;
    const { generation = 0, uid, creationTimestamp, resourceVersion } = before?.metadata ?? {};
    const hasGeneration = kind.kind !== 'Secret' && kind.kind !== 'ConfigMap';
    const isChanged = before === undefined || !isSameJson(spec(before), spec(object));
    return {
      ...object,
      metadata: {
        ...object.metadata,
        name: object.metadata.name ?? '',
        uid: uid ?? randomUUID(),
        resourceVersion: resourceVersion ?? '0',
        creationTimestamp: creationTimestamp ?? this.#options.now().toISOString(),
        ...(hasGeneration && { generation: isChanged ? generation + 1 : generation }),
      },
    };
  }

  #store(kind: KindRef, key: Key, object: Resource | undefined): void {
    const id = idOf(kind, key);
    this.writes += 1;
    const present = object && {
      ...object,
      metadata: { ...object.metadata, resourceVersion: `plan-${this.writes}` },
    };
    this.#entries.set(id, { kind, original: this.#entries.get(id)?.original, present: copyOf(present) });
  }
}

const keyIn = ({ metadata: { namespace, name } }: Pick<Manifest, 'metadata'>): Key => ({
  name,
  ...(namespace !== undefined && { namespace }),
});

/** As JSON carries it. */
function withoutUndefined<T>(value: T): T {
  if (Array.isArray(value)) return value.map((item: unknown) => withoutUndefined(item)) as T;
  if (!isRecord(value)) return value;
  const entries = Object.entries(value).filter(([, child]) => child !== undefined);
  return Object.fromEntries(entries.map(([key, child]) => [key, withoutUndefined(child)])) as T;
}
