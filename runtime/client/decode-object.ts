import { apiVersionOf, type Draft, type KindRef, type Resource, type StoredMeta } from '../../api/meta.ts';
import { UnreachableError } from './errors.ts';

/** Parses what a server sent. Throws `UnreachableError` if the answer is not that of an API server. */
export function parseJson(text: string): unknown {
  try {
    return JSON.parse(text) as unknown;
  } catch (error) {
    throw new UnreachableError('the response is not JSON; is there a proxy in between?', { cause: error });
  }
}

/**
 * An object as the kind's users expect it: items of lists and metadata-only answers get the type of their kind back.
 * Throws `UnreachableError` when it is no Kubernetes object. What a write returns need not be stored: a review never is.
 */
export function presentObject<T extends Resource>(kind: KindRef<T>, value: unknown, metadataOnly = false): T {
  if (typeof value !== 'object' || value === null || !('metadata' in value)) throw notAnObject(kind);
  const { metadata } = value;
  if (typeof metadata !== 'object' || metadata === null || Array.isArray(metadata)) throw notAnObject(kind);
  const type = { apiVersion: apiVersionOf(kind), kind: kind.kind };
  const object: Draft = metadataOnly ? { ...type, metadata } : { ...value, ...type, metadata };
  return object as T;
}

/** As `presentObject`, for what is read. Throws `UnreachableError`, too, when it lacks what each stored object has. */
export function storedObject<T extends Resource>(kind: KindRef<T>, value: unknown, metadataOnly = false): T {
  const object = presentObject(kind, value, metadataOnly);
  const { name, namespace, uid, resourceVersion }: Partial<Record<keyof StoredMeta, unknown>> = object.metadata;
  const given = [name, uid, resourceVersion, ...(kind.namespaced ? [namespace] : [])];
  if (given.every((field) => typeof field === 'string')) return object;
  throw new UnreachableError(`the response contains a ${kind.kind} without name, namespace, UID or version`);
}

const notAnObject = (kind: KindRef): UnreachableError =>
  new UnreachableError(`the response contains something that is not a ${kind.kind}: expected an object with metadata`);

/** One page of a list. */
export interface Page {
  readonly items: readonly unknown[];
  readonly resourceVersion: string;
  /** Where the next page begins; undefined on the last one. */
  readonly next: string | undefined;
}

/** Reads a page. Throws `UnreachableError` when it is no list. */
export function parsePage(kind: KindRef, text: string): Page {
  const page = parseJson(text) as {
    readonly items?: unknown;
    readonly metadata?: Readonly<Record<string, unknown>>;
  } | null;
  const { resourceVersion, continue: next } = page?.metadata ?? {};
  // A Go list without items is `null`.
  const items = page?.items ?? [];
  if (!Array.isArray(items) || typeof resourceVersion !== 'string') {
    throw new UnreachableError(`the response is not a list of ${kind.plural}`);
  }
  return { items, resourceVersion, next: typeof next === 'string' && next !== '' ? next : undefined };
}
