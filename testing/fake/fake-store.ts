import { randomUUID } from 'node:crypto';
import { apiVersionOf, type Key, type KindRef } from '../../api/meta.ts';
import type { DeleteOptions } from '../../runtime/client/cluster.ts';
import { managedFields, managersAfter, type Manager, type Writer } from './field-managers.ts';
import { defaultBuiltIn, validateMeta } from './fake-defaults.ts';
import { dependentsOf, foregroundFinalizer, freedIn, garbageIn } from './fake-garbage.ts';
import { hasGrace, isTimeOver, stampOf, terminating } from './fake-grace.ts';
import { refuseBeyondLimits } from './fake-limits.ts';
import { refusals } from './fake-refusals.ts';
import { copyOf, omit, sameJson, type StoredObject } from './stored-object.ts';

/** One change in the order of the server's history. */
export interface Change {
  readonly revision: number;
  readonly kindId: string;
  readonly before: StoredObject | undefined;
  /** Absent for a deletion; `before` then carries the deletion's revision. */
  readonly after: StoredObject | undefined;
}

/** What a schema does to an object before it is stored: default, prune, refuse (by throwing `ApiError` 422). */
export type Admit = (kind: KindRef, object: StoredObject, old: StoredObject | undefined) => StoredObject;

export interface Write {
  readonly writer: Writer;
  readonly dryRun: boolean;
  /** What server-side apply named. */
  readonly applied?: StoredObject;
}

interface Entry {
  readonly object: StoredObject;
  readonly managers: readonly Manager[];
}

/** Group and plural: all versions of a kind are one collection, as with conversion strategy None. */
export const kindIdOf = (kind: Pick<KindRef, 'group' | 'plural'>): string => `${kind.plural}.${kind.group}`;
const podsId = kindIdOf({ group: '', plural: 'pods' });
const keyIdOf = (key: Key): string => `${key.namespace ?? ''}/${key.name}`;

/** The storage and update rules of the fake API server: revisions, generations, finalizers, owners, history. */
export class FakeStore {
  readonly #now: () => number;
  readonly #admit: Admit;
  readonly #entries = new Map<string, Map<string, Entry>>();
  readonly #kinds = new Map<string, KindRef>();
  readonly #listeners = new Set<() => void>();
  #history: Change[] = [];
  #revision = 1000;
  #floor = 1000;
  readonly #collects: boolean;
  readonly #declaresNamespaces: boolean;
  #collecting = false;

  constructor(options: {
    readonly now: () => number;
    readonly admit: Admit;
    readonly collectsGarbage: boolean;
    readonly declaresNamespaces: boolean;
  }) {
    this.#declaresNamespaces = options.declaresNamespaces;
    this.#now = options.now;
    this.#admit = options.admit;
    this.#collects = options.collectsGarbage;
  }

  get revision(): number {
    return this.#revision;
  }

  /** Holds what another store holds, in place of what it held. Nobody changes what is stored, so both may hold the same objects. */
  copyFrom(other: FakeStore): void {
    this.#entries.clear();
    for (const [kindId, entries] of other.#entries) this.#entries.set(kindId, new Map(entries));
    for (const [kindId, kind] of other.#kinds) this.#kinds.set(kindId, kind);
    this.#revision = other.#revision;
    this.compact();
  }

  /** Changes after `revision`; throws 410 when that part of the history has been compacted away. */
  since(revision: number): readonly Change[] {
    if (revision < this.#floor) throw refusals.expired(revision, this.#floor);
    // Revisions are consecutive within the kept history.
    return this.#history.slice(Math.max(0, revision - this.#floor));
  }

  compact(): void {
    this.#history = [];
    this.#floor = this.#revision;
  }

  /** Calls `listener` after each change, until the returned function is called. */
  onChange(listener: () => void): () => void {
    this.#listeners.add(listener);
    return () => {
      this.#listeners.delete(listener);
    };
  }

  get(kind: KindRef, key: Key): StoredObject | undefined {
    return this.#entries.get(kindIdOf(kind))?.get(keyIdOf(key))?.object;
  }

  /** Objects of a kind in the order of namespace and name. */
  list(kind: KindRef): readonly StoredObject[] {
    const entries = [...(this.#entries.get(kindIdOf(kind)) ?? [])];
    return entries.sort(([a], [b]) => (a < b ? -1 : 1)).map(([, entry]) => entry.object);
  }

  /** Every object of every kind. */
  everything(): readonly StoredObject[] {
    return [...this.#all()].map(([, object]) => object);
  }

  managers(kind: KindRef, key: Key): readonly Manager[] {
    return this.#entries.get(kindIdOf(kind))?.get(keyIdOf(key))?.managers ?? [];
  }

  create(kind: KindRef, manifest: StoredObject, write: Write): StoredObject {
    const next = copyOf(manifest);
    if (next.metadata.name === undefined && next.metadata.generateName !== undefined) {
      next.metadata.name = next.metadata.generateName + randomUUID().slice(0, 5);
    }
    const key = keyOf(kind, next);
    if (next.metadata.resourceVersion !== undefined) throw refusals.versionOnCreate();
    this.#refuseByNamespace(kind, key);
    if (this.get(kind, key) !== undefined) throw refusals.alreadyExists(kind, key.name);
    next.apiVersion = apiVersionOf(kind);
    next.kind = kind.kind;
    delete next.status;
    next.metadata = {
      ...omit(next.metadata, 'deletionTimestamp', 'deletionGracePeriodSeconds', 'managedFields'),
      uid: randomUUID(),
      creationTimestamp: this.#stamp(),
      ...('spec' in next ? { generation: 1 } : {}),
    };
    return this.#finish(kind, undefined, next, write);
  }

  /** Stores `next` in place of the current object. Fields no client may change keep their values. */
  update(kind: KindRef, key: Key, next: StoredObject, write: Write): StoredObject {
    const old = this.get(kind, key);
    if (old === undefined) throw refusals.notFound(kind, key.name);
    checkPreconditions(kind, old, next.metadata);
    const toStatus = ['status', 'approval'].includes(write.writer.subresource);
    const merged = copyOf(toStatus ? old : next);
    const status = (toStatus ? next : old).status;
    delete merged.status;
    if (status !== undefined) merged.status = copyOf(status);
    for (const field of [
      'uid',
      'creationTimestamp',
      'deletionTimestamp',
      'deletionGracePeriodSeconds',
      'generation',
    ] as const) {
      Reflect.deleteProperty(merged.metadata, field);
      if (old.metadata[field] !== undefined) Object.assign(merged.metadata, { [field]: old.metadata[field] });
    }
    return this.#finish(kind, old, merged, write);
  }

  /** False when there is no such object. */
  delete(kind: KindRef, key: Key, options: DeleteOptions = {}): boolean {
    const old = this.get(kind, key);
    if (old === undefined || (options.uid !== undefined && options.uid !== old.metadata.uid)) return false;
    if (options.resourceVersion !== undefined && options.resourceVersion !== old.metadata.resourceVersion) {
      throw refusals.conflict(kind, key.name, 'the resource version in the precondition is not the stored one');
    }
    if (options.propagation === 'Orphan') this.#orphan(old);
    const stopping = terminating(kind, old, options.gracePeriodSeconds, this.#now());
    if (stopping !== undefined) {
      if (stopping !== old) this.#commit(kind, old, stopping, this.managers(kind, key));
      return true;
    }
    const finalizers = [...(old.metadata.finalizers ?? [])];
    if (options.propagation === 'Foreground' && dependentsOf(old, this.#all()).length > 0)
      finalizers.push(foregroundFinalizer);
    if (finalizers.length === 0) {
      this.#remove(kind, old);
      return true;
    }
    const unchanged =
      old.metadata.deletionTimestamp !== undefined && finalizers.length === old.metadata.finalizers?.length;
    if (!unchanged) {
      const next = copyOf(old);
      next.metadata.deletionTimestamp ??= this.#stamp();
      next.metadata.deletionGracePeriodSeconds = 0;
      next.metadata.finalizers = finalizers;
      if (next.metadata.generation !== undefined) next.metadata.generation += 1;
      this.#commit(kind, old, next, this.managers(kind, key));
    }
    if (this.#collects) this.collectGarbage();
    return true;
  }

  /** What is done by pods' kubelets: those whose time is over are gone. */
  endPods(): void {
    const kind = this.#kinds.get(podsId);
    if (kind === undefined) return;
    for (const { object } of [...(this.#entries.get(podsId)?.values() ?? [])])
      if (isTimeOver(kind, object, this.#now())) this.#remove(kind, object);
  }

  #refuseByNamespace(kind: KindRef, { namespace, name }: Key): void {
    if (!kind.namespaced || namespace === undefined) return;
    const found = this.#entries.get(kindIdOf({ group: '', plural: 'namespaces' }))?.get(keyIdOf({ name: namespace }));
    if (found?.object.metadata.deletionTimestamp !== undefined) throw refusals.terminating(kind, name, namespace);
    if (found === undefined && this.#declaresNamespaces) throw refusals.absentNamespace(namespace);
  }

  /** Does what the garbage collector does, until there is nothing more to do. */
  collectGarbage(): void {
    if (this.#collecting) return; // a deletion below called back
    this.#collecting = true;
    for (let busy = true; busy;) {
      const garbage = garbageIn([...this.#all()]);
      for (const [kind, object] of garbage) this.delete(kind, keyOf(kind, object));
      const freed = freedIn([...this.#all()]);
      for (const [kind, object] of freed) this.#dropFinalizer(kind, object);
      busy = garbage.length + freed.length > 0;
    }
    this.#collecting = false;
  }

  #dropFinalizer(kind: KindRef, object: StoredObject): void {
    const next = copyOf(object);
    next.metadata.finalizers = (object.metadata.finalizers ?? []).filter((name) => name !== foregroundFinalizer);
    this.update(kind, keyOf(kind, object), next, garbageCollector);
  }

  #orphan(owner: StoredObject): void {
    for (const [kind, object] of dependentsOf(owner, [...this.#all()])) {
      const next = copyOf(object);
      next.metadata.ownerReferences = (object.metadata.ownerReferences ?? []).filter(
        (r) => r.uid !== owner.metadata.uid,
      );
      this.update(kind, keyOf(kind, object), next, garbageCollector);
    }
  }

  *#all(): Iterable<[KindRef, StoredObject]> {
    for (const [kindId, entries] of this.#entries) {
      const kind = this.#kinds.get(kindId);
      for (const entry of entries.values()) if (kind !== undefined) yield [kind, entry.object];
    }
  }

  #finish(kind: KindRef, old: StoredObject | undefined, draft: StoredObject, write: Write): StoredObject {
    validateMeta(kind, draft);
    const next = this.#admit(kind, defaultBuiltIn(kind, draft, this.#revision), old);
    if (old?.metadata.generation !== undefined && !sameJson(content(old), content(next))) {
      next.metadata.generation = old.metadata.generation + 1;
    }
    const key = keyOf(kind, next);
    refuseBeyondLimits(kind, old, next);
    const before = this.managers(kind, key);
    const managers = managersAfter(before, write.writer, { before: old, after: next, applied: write.applied });
    if (old !== undefined && sameJson(unversioned(old), unversioned(next)) && sameManagers(before, managers))
      return old;
    if (write.dryRun) return next;
    return this.#commit(kind, old, next, managers);
  }

  #commit(
    kind: KindRef,
    old: StoredObject | undefined,
    next: StoredObject,
    managers: readonly Manager[],
  ): StoredObject {
    const isHeld = hasGrace(next) || (next.metadata.finalizers ?? []).length > 0;
    if (next.metadata.deletionTimestamp !== undefined && !isHeld) {
      this.#remove(kind, { ...next, metadata: { ...next.metadata } });
      return next;
    }
    if (next.metadata.finalizers?.length === 0) delete next.metadata.finalizers;
    const fields = managedFields(managers, next.apiVersion, this.#stamp());
    if (fields !== undefined) next.metadata.managedFields = fields;
    this.#revision += 1;
    next.metadata.resourceVersion = String(this.#revision);
    const kindId = kindIdOf(kind);
    this.#kinds.set(kindId, kind);
    const entries = this.#entries.get(kindId) ?? new Map<string, Entry>();
    this.#entries.set(kindId, entries.set(keyIdOf(keyOf(kind, next)), { object: next, managers }));
    this.#record({ revision: this.#revision, kindId, before: old, after: next });
    return next;
  }

  #remove(kind: KindRef, old: StoredObject): void {
    this.#revision += 1;
    this.#entries.get(kindIdOf(kind))?.delete(keyIdOf(keyOf(kind, old)));
    const last = copyOf(old);
    last.metadata.resourceVersion = String(this.#revision);
    this.#record({ revision: this.#revision, kindId: kindIdOf(kind), before: last, after: undefined });
    if (this.#collects) this.collectGarbage();
  }

  #record(change: Change): void {
    this.#history.push(change);
    for (const listener of this.#listeners) listener();
  }

  #stamp(): string {
    return stampOf(this.#now());
  }
}

const garbageCollector: Write = {
  writer: { name: 'kube-controller-manager', operation: 'Update', subresource: '' },
  dryRun: false,
};

function keyOf(kind: KindRef, object: StoredObject): Key {
  const name = object.metadata.name ?? '';
  return kind.namespaced ? { namespace: object.metadata.namespace ?? '', name } : { name };
}

function checkPreconditions(kind: KindRef, old: StoredObject, wanted: StoredObject['metadata']): void {
  const name = old.metadata.name ?? '';
  if (wanted.resourceVersion !== undefined && wanted.resourceVersion !== old.metadata.resourceVersion) {
    throw refusals.conflict(
      kind,
      name,
      'the object has been modified; please apply your changes to the latest version and try again',
    );
  }
  if (wanted.uid !== undefined && wanted.uid !== old.metadata.uid) {
    throw refusals.conflict(
      kind,
      name,
      `Precondition failed: UID in precondition: ${wanted.uid}, UID in object meta: ${old.metadata.uid ?? ''}`,
    );
  }
}

function content(object: StoredObject): unknown {
  return omit(object, 'metadata', 'status');
}

function unversioned(object: StoredObject): unknown {
  return { ...object, metadata: omit(object.metadata, 'resourceVersion', 'managedFields') };
}

function sameManagers(a: readonly Manager[], b: readonly Manager[]): boolean {
  const text = (managers: readonly Manager[]): string[] =>
    managers.map((m) => JSON.stringify([m.name, m.operation, m.subresource, [...m.fields].sort()])).sort();
  return sameJson(text(a), text(b));
}
