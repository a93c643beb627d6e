import { yamlText } from '../../../api/generate/yaml-text.ts';
import type { Draft, KindRef } from '../../../api/meta.ts';
import type { OutputFormat } from '../frame/shared-options.ts';

/** `<kind>.<group>/<name>`, as kubectl names objects. */
export function objectName(kind: Pick<KindRef, 'group' | 'kind'>, name: string): string {
  const lower = kind.kind.toLowerCase();
  return `${kind.group === '' ? lower : `${lower}.${kind.group}`}/${name}`;
}

const groupOf = (apiVersion: string): string => (apiVersion.includes('/') ? (apiVersion.split('/')[0] ?? '') : '');

/** Without `managedFields`, which kubectl does not show either. */
export function shownObject<T extends Draft>(object: T): T {
  return { ...object, metadata: { ...object.metadata, managedFields: undefined } };
}

/** Objects as JSON, YAML or names: one object as it is, several as a `List`. */
export function objectsText(
  objects: readonly Draft[],
  format: Exclude<OutputFormat, 'table' | 'wide'>,
  asList: boolean,
): string {
  if (format === 'name') {
    const names = objects.map(({ apiVersion, kind, metadata }) =>
      objectName({ group: groupOf(apiVersion), kind }, metadata.name ?? ''),
    );
    return names.map((name) => `${name}\n`).join('');
  }
  const items = objects.map(shownObject);
  const [only] = items;
  return dataText(!asList && only !== undefined ? only : { apiVersion: 'v1', kind: 'List', items }, format);
}

/** A value as JSON or YAML. */
export function dataText(value: unknown, format: 'json' | 'yaml'): string {
  // Undefined fields disappear in both.
  const plain: unknown = JSON.parse(JSON.stringify(value));
  return format === 'json' ? `${JSON.stringify(plain, undefined, 4)}\n` : yamlText(plain);
}
