import { apiVersionOf, type Key, type KindRef } from '../../api/meta.ts';
import type { Selection } from './cluster.ts';

/** `/api/v1` or `/apis/<group>/<version>`, and the collection below it. All namespaces unless one is given. */
export function collectionPath(kind: KindRef, namespace?: string): string {
  const root = kind.group === '' ? '/api' : '/apis';
  const scope =
    kind.namespaced && namespace !== undefined && namespace !== ''
      ? `/namespaces/${encodeURIComponent(namespace)}`
      : '';
  return `${root}/${apiVersionOf(kind)}${scope}/${kind.plural}`;
}

/**
 * The path of one object. Throws `TypeError` when the name, or the namespace its kind needs, is missing: without it the
 * request would address a whole collection.
 */
export function objectPath(kind: KindRef, key: Key, subresource?: string): string {
  if (key.name === '' || key.name === '.' || key.name === '..')
    throw new TypeError(`${kind.kind}: "${key.name}" is not a name`);
  const tail = subresource === undefined ? '' : `/${subresource}`;
  return `${collectionPath(kind, namespaceFor(kind, key))}/${encodeURIComponent(key.name)}${tail}`;
}

/** The namespace a key of this kind must have; undefined for cluster-scoped kinds. Throws `TypeError` when it is missing. */
export function namespaceFor(
  kind: KindRef,
  key: { readonly namespace?: string | undefined; readonly name?: string | undefined },
): string | undefined {
  if (!kind.namespaced) return undefined;
  if (key.namespace === undefined || key.namespace === '') {
    throw new TypeError(`${kind.kind} ${key.name ?? ''} is namespaced: the key needs a namespace`);
  }
  return key.namespace;
}

/** Query parameters; those without a value are left out. */
export type Query = Readonly<Record<string, string | number | boolean | undefined>>;

export function withQuery(path: string, query: Query): string {
  const set = Object.entries(query).filter(
    (entry): entry is [string, string | number | boolean] => entry[1] !== undefined,
  );
  if (set.length === 0) return path;
  return `${path}?${new URLSearchParams(set.map(([key, value]): [string, string] => [key, String(value)])).toString()}`;
}

export function selectionQuery(selection: Selection): Query {
  return { labelSelector: selection.labelSelector, fieldSelector: selection.fieldSelector };
}
