import type { Key } from '../../api/meta.ts';
import type { OpenApi } from '../../api/schema.ts';
import { dataStore } from '../../api/steward/v1alpha1/data-store.ts';
import type { ContentRef, DataStore } from '../../api/steward/v1alpha1/data-store.ts';
import { isRecord } from '../../api/structural/is-record.ts';

/** A field of a DataStore that contains bytes, or refers to them. */
export interface ContentField {
  /** Path in the object. */
  readonly field: string;
  readonly content: ContentRef;
}

/** Every field of a DataStore that contains bytes, or refers to them, with its value, in the order of the schema. */
export function contentFields({ spec }: DataStore): readonly ContentField[] {
  return contentPaths.flatMap((path) => {
    const content = path.reduce<unknown>((at, step) => (isRecord(at) ? at[step] : undefined), spec);
    // The schema guarantees the type.
    return content === undefined ? [] : [{ field: `spec.${path.join('.')}`, content: content as ContentRef }];
  });
}

/** Where the schema has bytes, inline or from a Secret: a field that a driver brings along is guarded like all others. */
const contentPaths = pathsOf(dataStore.spec.openapi, []);

function pathsOf({ properties }: OpenApi, path: readonly string[]): readonly (readonly string[])[] {
  if (properties === undefined) return [];
  if ('secretReference' in properties && 'content' in properties) return [path];
  return Object.entries(properties).flatMap(([name, field]) => pathsOf(field, [...path, name]));
}

/** The Secrets a DataStore reads, each once. Inline content wins, so a reference beside it is not read. */
export function secretsOf(store: DataStore): readonly (Key & { readonly namespace: string })[] {
  const found = new Map<string, Key & { readonly namespace: string }>();
  for (const { content } of contentFields(store)) {
    const { name = '', namespace = '' } = content.secretReference ?? {};
    if ((content.content ?? '') === '' && name !== '' && namespace !== '')
      found.set(`${namespace}/${name}`, { namespace, name });
  }
  return [...found.values()];
}
