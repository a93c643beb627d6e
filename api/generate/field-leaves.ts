import { coreTypeOf } from '../core/core-schema.ts';
import type { OpenApi } from '../schema.ts';

/** Paths of the leaf fields below `path`. Fields of embedded Kubernetes types are not listed. */
export function fieldLeaves(schema: OpenApi, path: string): readonly string[] {
  if (coreTypeOf(schema) !== undefined) return [path];
  if (schema.items?.properties !== undefined) return fieldLeaves(schema.items, `${path}[]`);
  if (schema.additionalProperties?.properties !== undefined) {
    return fieldLeaves(schema.additionalProperties, `${path}.*`);
  }
  const fields = Object.entries(schema.properties ?? {});
  return fields.length === 0 ? [path] : fields.flatMap(([name, field]) => fieldLeaves(field, `${path}.${name}`));
}
