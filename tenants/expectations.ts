import type { Draft, KindRef, Manifest, ObjectMeta, Resource } from '../api/meta.ts';
import { carries } from '../runtime/apply/apply-memory.ts';
import { identityOf, isOlder } from '../runtime/cache/object-id.ts';

/** The applied objects of a component inside a tenant. */
export interface Presence {
  readonly component: string;
  /** With the marks of their set, as they were sent. */
  readonly manifests: readonly Manifest[];
  /** The API server's responses. */
  readonly applied: readonly Resource[];
  /** Objects that belong to the tenant's administrators once they exist. */
  readonly createOnly: readonly Manifest[];
  /** When all of it was written, by the monotonic clock; absent if some of it was only found. */
  readonly writtenAt?: number;
  readonly kindOf: (object: Draft) => KindRef;
}

/** The latest state of an object in a watch or a list. */
export interface Observation {
  readonly identity: string;
  readonly isGone: boolean;
  /** Of one that is missing in a list, only its version. */
  readonly metadata: ObjectMeta;
}

/** An applied object, as the API server returned it. */
interface Written {
  readonly uid: string;
  readonly resourceVersion: string;
  readonly at: number | undefined;
  /** For kinds with a generation, whose status others update frequently. */
  readonly content?: { readonly generation: number; readonly marks: Pick<Manifest, 'metadata'> };
}

interface Expected {
  readonly component: string;
  readonly kind: KindRef;
  /** Absent for objects of the administrators. */
  readonly written?: Written;
  /** Whether its absence means anything: an administrator's object may exist without our label. */
  isKnown: boolean;
}

/** The expected objects inside one tenant, and whether an observed change is drift. */
export class Expectations {
  readonly #expected = new Map<string, Expected>();

  /** Replaces the expected objects of a component. */
  set({ component, manifests, applied, createOnly, kindOf, writtenAt }: Presence): void {
    const known = new Set<string>();
    for (const [identity, expected] of this.#expected) {
      if (expected.component !== component) continue;
      if (expected.isKnown) known.add(identity);
      this.#expected.delete(identity);
    }
    const answers = new Map(applied.map((object) => [identityOf(object), object]));
    for (const manifest of manifests) {
      const identity = identityOf(manifest);
      const answer = answers.get(identity);
      if (answer === undefined) continue;
      const expected = {
        component,
        kind: kindOf(manifest),
        written: writtenAs(manifest, answer, writtenAt),
        isKnown: true,
      };
      this.#expected.set(identity, expected);
    }
    for (const manifest of createOnly) {
      const identity = identityOf(manifest);
      this.#expected.set(identity, { component, kind: kindOf(manifest), isKnown: known.has(identity) });
    }
  }

  /** Drops the expectations about a component. */
  forget(component: string): void {
    for (const [identity, expected] of this.#expected) {
      if (expected.component === component) this.#expected.delete(identity);
    }
  }

  /** The kinds of all expected objects. */
  kinds(): ReadonlySet<KindRef> {
    return new Set([...this.#expected.values()].map(({ kind }) => kind));
  }

  /** The newest resource version among the applied objects of a kind. */
  newest(kind: KindRef): string | undefined {
    let newest: string | undefined;
    for (const { kind: of, written } of this.#expected.values()) {
      if (of !== kind || written === undefined) continue;
      if (newest === undefined || isOlder(newest, written.resourceVersion)) newest = written.resourceVersion;
    }
    return newest;
  }

  /**
   * The oldest resource version among the objects of a kind, if all of them were written after `time`: whatever others changed came after
   * it.
   */
  writtenAfter(kind: KindRef, time: number): string | undefined {
    let oldest: string | undefined;
    for (const { kind: of, written } of this.#expected.values()) {
      if (of !== kind) continue;
      if (written?.at === undefined || written.at <= time) return undefined;
      if (oldest === undefined || isOlder(written.resourceVersion, oldest)) oldest = written.resourceVersion;
    }
    return oldest;
  }

  /** The names of the components that have objects of a kind. */
  componentsOf(kind: KindRef): ReadonlySet<string> {
    const own = [...this.#expected.values()].filter((expected) => expected.kind === kind);
    return new Set(own.map(({ component }) => component));
  }

  /** Objects of a kind that should exist, but are missing from a complete list. */
  missing(kind: KindRef, shown: ReadonlySet<string>): readonly string[] {
    return [...this.#expected].flatMap(([identity, expected]) =>
      expected.kind === kind && expected.isKnown && !shown.has(identity) ? [identity] : [],
    );
  }

  /** Records an observation; true when it has to be evaluated. */
  notice({ identity, isGone }: Observation): boolean {
    const expected = this.#expected.get(identity);
    if (expected === undefined) return false;
    if (expected.written !== undefined) return true;
    expected.isKnown = !isGone;
    return isGone;
  }

  /**
   * The component whose object was changed or deleted by someone else; undefined for our own writes and for changes of the
   * status.
   */
  evaluate({ identity, isGone, metadata }: Observation): string | undefined {
    const expected = this.#expected.get(identity);
    if (expected === undefined) return undefined;
    const { component, written } = expected;
    if (written === undefined) return isGone ? component : undefined;
    const { uid, resourceVersion, content } = written;
    // The state before our own write, or that write itself.
    if (metadata.resourceVersion === resourceVersion || isOlder(metadata.resourceVersion, resourceVersion)) {
      return undefined;
    }
    if (isGone) return metadata.uid === undefined || metadata.uid === uid ? component : undefined;
    const isUnchanged =
      metadata.uid === uid && content?.generation === metadata.generation && content !== undefined
        ? carries({ metadata }, content.marks)
        : false;
    return isUnchanged ? undefined : component;
  }
}

function writtenAs({ metadata }: Manifest, answer: Resource, at: number | undefined): Written {
  const { uid, resourceVersion, generation } = answer.metadata;
  if (generation === undefined) return { uid, resourceVersion, at };
  const { name, labels, annotations } = metadata;
  const marks = { metadata: { name, labels, annotations } };
  return { uid, resourceVersion, at, content: { generation, marks } };
}
