import type { OpenApi } from '../schema.ts';
import { isRecord } from './is-record.ts';

/** Removes fields that are not in the schema, as the API server does before it stores an object. */
export function prune(schema: OpenApi, value: unknown): unknown {
  if (Array.isArray(value)) {
    const { items } = schema;
    return items ? value.map((item: unknown) => prune(items, item)) : value;
  }
  if (!isRecord(value)) return value;
  const { properties = {}, additionalProperties } = schema;
  const keepsAll = schema['x-kubernetes-preserve-unknown-fields'] === true;
  return Object.fromEntries(
    Object.entries(value).flatMap(([name, field]) => {
      const of = Object.hasOwn(properties, name) ? properties[name] : additionalProperties;
      if (of) return [[name, prune(of, field)]];
      return keepsAll ? [[name, field]] : [];
    }),
  );
}
