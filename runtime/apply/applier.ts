import { apiVersionOf, type Key, type KindRef, type Manifest, type Resource } from '../../api/meta.ts';
import { isAlreadyApplied } from './already-applied.ts';
import { applyExactly, hasExactSpec } from './apply-exactly.ts';
import { isDrift, isSameManifest, isStillApplied, rememberApplied, type Applied } from './apply-memory.ts';
import { belongs, mark, type Marking } from './apply-marks.ts';
import type { ApplyReport, ApplySet } from './apply-set.ts';
import type { Cluster } from '../client/cluster.ts';
import { ApiError } from '../client/errors.ts';
import { explainRefusal, isOfAnother, notOurs, ownedByAnother, writtenBySomebody } from '../client/explain-refusal.ts';
import { describe, identityOf, isOlder, keyOf } from '../cache/object-id.ts';
import type { ObjectSlot } from '../cache/object-slot.ts';

/** Counters of an applier, per component. */
export interface ApplyMetrics {
  applied(component: string, objects: number): void;
  unchanged(component: string, objects: number): void;
  drifted(component: string, kind: string): void;
  pruned(component: string, kind: string): void;
}

export interface ApplierOptions {
  readonly cluster: Cluster;
  /** One stable name for the whole product: another name would leave the old one's fields behind for ever. */
  readonly fieldManager: string;
  readonly marking: Marking;
  /** The kinds of manifests; those a set prunes are known without being named here. */
  readonly kinds: readonly KindRef[];
  /** What was applied for each owner. It goes with the owner where it is a slot of an `ObjectMemory`. */
  readonly memory: ObjectSlot<AppliedSets>;
  /**
   * The present object where a cache holds its kind, undefined where it does not or the object is absent. It may be behind
   * and may be metadata only. Without it every manifest is sent on every reconcile.
   */
  readonly lookup?: (kind: KindRef, key: Key) => Resource | undefined;
  readonly metrics?: ApplyMetrics;
  /**
   * Kinds that people create by hand too: an existing object with a wanted name and without an owner is theirs and is not
   * changed.
   */
  readonly writtenByHand?: ReadonlySet<string>;
  /**
   * Why an existing object with a wanted name may not be adopted, as text; undefined if it may be. Called for every object
   * that was not applied before, or was replaced since. Without it, every object without another controller is adopted.
   */
  readonly foreign?: (object: Resource, set: ApplySet) => string | undefined;
  /** Kinds whose spec is exactly the manifest's: what others add to it is removed. */
  readonly exact?: readonly KindRef[];
  /**
   * Kinds of which an existing object is only changed in the version that was read: where several processes work one after the other, the
   * delayed request of a former one must not undo what its successor wrote.
   */
  readonly fenced?: ReadonlySet<string>;
}

/** What was applied for one owner, by component. */
export type AppliedSets = Map<string, SetMemory>;

interface SetMemory {
  readonly objects: Map<string, Applied>;
  /** The names of the last complete pass: while they stand, nothing can have become superfluous. */
  prunedFor: string | undefined;
}

/** How one set is applied. */
interface ApplyCall {
  readonly signal?: AbortSignal;
  /**
   * An existing object as the API server returned it just now, managedFields included; undefined where it was not read. Only called
   * for objects of which nothing is remembered, as after a restart.
   */
  readonly live?: (kind: KindRef, key: Key) => Resource | undefined | Promise<Resource | undefined>;
  /**
   * Given for an owner for which no process can have applied anything before: true if no object has this name. It is then sent without
   * being read, and nothing is listed to be pruned. It must be true only if known for certain: the API server refuses a second controller,
   * but where our own field manager has set the first, server-side apply replaces that.
   */
  readonly isFree?: (kind: KindRef, key: Key) => boolean;
}

interface Sent {
  /** What the API server answered with; undefined when nothing was sent. */
  readonly object?: Resource;
  /** What was read in place of that. */
  readonly found?: Resource;
  readonly drifted: boolean;
}

interface Target extends ApplyCall {
  readonly set: ApplySet;
  readonly memory: SetMemory;
  readonly kind: KindRef;
}

/**
 * Makes a cluster contain exactly the objects of its sets. All manifests of a set are sent at once by server-side apply.
 * Objects that are no longer in the set are pruned once all manifests were accepted, and never without knowing the existing
 * objects. Applied manifests are remembered, so that a reconcile without changes sends nothing; after a restart, an object that
 * already is what would be applied is only read (ADR 21).
 */
export class Applier {
  readonly #options: ApplierOptions;
  readonly #kinds: ReadonlyMap<string, KindRef>;

  constructor(options: ApplierOptions) {
    this.#options = options;
    this.#kinds = byType(options.kinds);
  }

  /**
   * Throws what the API server refused (several refusals in an AggregateError): `TerminalError` for an immutable field,
   * `RetryError` for an object of another controller, else `ApiError` or `UnreachableError`. The other manifests are
   * applied all the same; nothing is pruned then.
   */
  async apply(set: ApplySet, options: ApplyCall = {}): Promise<ApplyReport> {
    const { marking, metrics } = this.#options;
    const isUntouched = this.#options.memory.get(set.owner.metadata.uid)?.has(set.component) !== true;
    const memory = this.#memoryOf(set);
    const manifests = set.manifests.map((manifest) => mark(manifest, set, marking));
    const identities = refuseTwins([...manifests, ...(set.kept ?? [])]);
    const names = [...identities].sort().join('\n');
    // A set that prunes nothing does not claim to be all there is of its component.
    const isComplete = set.prunes.length > 0;
    const mayPrune = isComplete && memory.prunedFor !== names;
    // From here on objects of both passes may exist, until one has been completed.
    if (!isComplete || mayPrune) memory.prunedFor = undefined;
    const kinds = new Map([...this.#kinds, ...byType(set.prunes)]);
    const results = await Promise.allSettled(
      manifests.map((manifest) => this.#send(manifest, { set, memory, kind: kindOf(manifest, kinds), ...options })),
    );
    const errors = results.flatMap((result) => (result.status === 'rejected' ? [result.reason as unknown] : []));
    const sent = results.flatMap((result) => (result.status === 'fulfilled' ? [result.value] : []));
    const applied = sent.flatMap(({ object }) => (object === undefined ? [] : [object]));
    const found = sent.flatMap((one) => one.found ?? []);
    const unchanged = sent.length - applied.length;
    metrics?.applied(set.component, applied.length);
    metrics?.unchanged(set.component, unchanged);
    if (errors.length === 1) throw errors[0];
    if (errors.length > 1)
      throw new AggregateError(errors, `${errors.length} objects of ${set.component} were refused`);
    // Where nothing was ever applied, nothing is superfluous.
    const isFirst = isUntouched && options.isFree !== undefined;
    const pruned = mayPrune && !isFirst ? await this.#prune(set, identities, options.signal) : [];
    if (isComplete) {
      memory.prunedFor = names;
      for (const identity of memory.objects.keys()) if (!identities.has(identity)) memory.objects.delete(identity);
    }
    const drifted = sent.flatMap(({ object, drifted }) => (drifted && object !== undefined ? [object] : []));
    return { applied, found, drifted, pruned, unchanged };
  }

  /**
   * True if this applier has applied the object for the owner, and the given state of it is that of the last time or a later one: reading it
   * again could only show what others have changed since a cache had it.
   */
  isNotBehind(owner: string, object: Resource): boolean {
    const identity = identityOf(object);
    const known = [...(this.#options.memory.get(owner)?.values() ?? [])].flatMap(
      ({ objects }) => objects.get(identity) ?? [],
    );
    const { uid, resourceVersion } = object.metadata;
    return known.length > 0 && known.every((one) => one.uid === uid && !isOlder(resourceVersion, one.resourceVersion));
  }

  #memoryOf(set: ApplySet): SetMemory {
    const ofOwner = this.#options.memory.getOrMake(set.owner.metadata.uid, () => new Map<string, SetMemory>());
    let memory = ofOwner.get(set.component);
    if (memory === undefined)
      ofOwner.set(set.component, (memory = { objects: new Map<string, Applied>(), prunedFor: undefined }));
    return memory;
  }

  async #send(manifest: Manifest, to: Target): Promise<Sent> {
    const { cluster, fieldManager, foreign, lookup, metrics } = this.#options;
    const identity = identityOf(manifest);
    const before = to.memory.objects.get(identity);
    const current = lookup?.(to.kind, keyOf(manifest));
    if (before !== undefined && current !== undefined && isStillApplied(before, manifest, current)) {
      return { drifted: false };
    }
    let found: Resource | undefined;
    if (before === undefined && !this.#mayBeSent(manifest, to, current)) {
      found = await this.#read(manifest, to, current);
      this.#refuseForeign(manifest, to.set, { before, current: found });
      if (found !== undefined && this.#isApplied(found, manifest, to.kind)) {
        to.memory.objects.set(identity, rememberApplied(manifest, found));
        return { found, drifted: false };
      }
    } else if (before !== undefined && foreign !== undefined) {
      const { kind, signal } = to;
      const existing = current ?? (await this.#read(manifest, { kind, signal }));
      this.#refuseForeign(manifest, to.set, { before, current: existing });
    }
    const options = { fieldManager, signal: to.signal };
    const resourceVersion = await this.#fence(manifest, to, { before, found });
    const fenced =
      resourceVersion === undefined ? manifest : { ...manifest, metadata: { ...manifest.metadata, resourceVersion } };
    const object = await (
      this.#isExact(to.kind)
        ? applyExactly(cluster, { kind: to.kind, manifest: fenced }, options)
        : cluster.apply(to.kind, fenced, options)
    ).catch(async (error: unknown) => {
      to.memory.objects.delete(identity);
      // What was not read before has perhaps a controller that can be named.
      if (before === undefined && isOfAnother(error)) {
        const other = await this.#read(manifest, { kind: to.kind, signal: to.signal });
        this.#refuseForeign(manifest, to.set, { before, current: other });
      }
      throw explainRefusal(manifest, error);
    });
    to.memory.objects.set(identity, rememberApplied(manifest, object));
    const drifted = before !== undefined && isSameManifest(before, manifest) && isDrift(before, object, current);
    if (drifted) metrics?.drifted(to.set.component, manifest.kind);
    return { object, drifted };
  }

  /** True if an object of which nothing is remembered need not be read, because it is not there. */
  #mayBeSent(manifest: Manifest, { kind, isFree }: Target, current: Resource | undefined): boolean {
    const { fenced, foreign, writtenByHand } = this.#options;
    if (current !== undefined || foreign !== undefined) return false;
    // What may only be changed in the version that was read has to be read.
    if (fenced?.has(kind.kind) === true) return false;
    // One that a person makes in this moment would become ours.
    return writtenByHand?.has(kind.kind) !== true && isFree?.(kind, keyOf(manifest)) === true;
  }

  /**
   * The existing object: as the caller has read it, unless `cached` is newer; otherwise it is read, where objects of other owners are in
   * the same cluster.
   */
  async #read(
    manifest: Manifest,
    { kind, live, signal }: Pick<Target, 'kind' | 'live' | 'signal'>,
    cached?: Resource,
  ): Promise<Resource | undefined> {
    const key = keyOf(manifest);
    const known = await live?.(kind, key);
    const isBehind = isOlder(known?.metadata.resourceVersion, cached?.metadata.resourceVersion);
    if (known !== undefined && !isBehind) return known;
    return this.#options.marking.by === 'ownerReference' ? this.#options.cluster.get(kind, key, { signal }) : undefined;
  }

  /** The version that the object must have: as it was read, or as the last apply left it. Undefined if it may have any. */
  async #fence(
    manifest: Manifest,
    to: Target,
    { before, found }: { readonly before: Applied | undefined; readonly found: Resource | undefined },
  ): Promise<string | undefined> {
    if (this.#options.fenced?.has(manifest.kind) !== true) return undefined;
    const known = before === undefined ? found : await this.#read(manifest, to);
    const version = known?.metadata.resourceVersion;
    return isOlder(version, before?.resourceVersion) ? before?.resourceVersion : version;
  }

  #isExact(kind: KindRef): boolean {
    return this.#options.exact?.includes(kind) === true;
  }

  #isApplied(found: Resource, manifest: Manifest, kind: KindRef): boolean {
    if (!isAlreadyApplied(found, manifest, this.#options.fieldManager)) return false;
    return !this.#isExact(kind) || hasExactSpec(found, manifest);
  }

  /**
   * Server-side apply with one field manager would silently overwrite an object of another owner: composed names can
   * collide, and an owner may be created again before the objects of the previous one are gone.
   */
  #refuseForeign(
    manifest: Manifest,
    set: ApplySet,
    { before, current }: { readonly before: Applied | undefined; readonly current: Resource | undefined },
  ): void {
    if (this.#options.marking.by !== 'ownerReference' || current === undefined) return;
    const references = current.metadata.ownerReferences ?? [];
    const controller = references.find((reference) => reference.controller === true);
    const { foreign, writtenByHand } = this.#options;
    if (foreign !== undefined && before?.uid !== current.metadata.uid) {
      const why = foreign(current, set);
      if (why !== undefined) throw notOurs(why);
    }
    if (references.length === 0 && writtenByHand?.has(manifest.kind) === true) throw writtenBySomebody(manifest);
    if (controller === undefined || controller.uid === set.owner.metadata.uid) return;
    throw ownedByAnother(manifest, `${controller.kind} ${controller.name} (uid ${controller.uid})`);
  }

  async #prune(set: ApplySet, wanted: ReadonlySet<string>, signal?: AbortSignal): Promise<readonly Resource[]> {
    const found = await Promise.all(set.prunes.map((kind) => this.#superfluous({ kind, set, wanted }, signal)));
    return found.flat();
  }

  async #superfluous(
    of: { readonly kind: KindRef; readonly set: ApplySet; readonly wanted: ReadonlySet<string> },
    signal?: AbortSignal,
  ): Promise<readonly Resource[]> {
    const { cluster, marking, metrics } = this.#options;
    const { kind, set } = of;
    const { namespace } = set.owner.metadata;
    const { items } = await cluster
      .list(kind, {
        labelSelector: `${marking.componentLabel}=${set.component}`,
        metadataOnly: true,
        namespace: marking.by === 'ownerReference' && kind.namespaced ? namespace : undefined,
        signal,
      })
      .catch(noneIfUnknownKind);
    const superfluous = items
      .map((item) => ({ ...item, apiVersion: apiVersionOf(kind), kind: kind.kind }))
      .filter((item) => !of.wanted.has(identityOf(item)) && belongs(item, set, marking))
      .filter(({ metadata }) => metadata.deletionTimestamp === undefined);
    await Promise.all(
      superfluous.map(async (item) => {
        const { uid } = item.metadata;
        await cluster.delete(kind, keyOf(item), { propagation: 'Background', uid, signal });
        metrics?.pruned(set.component, kind.kind);
      }),
    );
    return superfluous;
  }
}

/** An optional API that is not installed holds nothing to prune. */
function noneIfUnknownKind(error: unknown): { readonly items: readonly Resource[] } {
  if (error instanceof ApiError && error.code === 404) return { items: [] };
  throw error;
}

function byType(kinds: readonly KindRef[]): Map<string, KindRef> {
  return new Map(kinds.map((kind) => [`${apiVersionOf(kind)} ${kind.kind}`, kind]));
}

function kindOf(manifest: Manifest, kinds: ReadonlyMap<string, KindRef>): KindRef {
  const kind = kinds.get(`${manifest.apiVersion} ${manifest.kind}`);
  if (kind !== undefined) return kind;
  throw new Error(`${describe(manifest)} is of ${manifest.apiVersion}, a kind that this applier does not know`);
}

function refuseTwins(manifests: readonly Manifest[]): ReadonlySet<string> {
  const identities = new Set<string>();
  for (const manifest of manifests) {
    const identity = identityOf(manifest);
    if (identities.has(identity)) throw new Error(`${describe(manifest)} occurs twice in one set`);
    identities.add(identity);
  }
  return identities;
}
