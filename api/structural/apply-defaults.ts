import type { OpenApi } from '../schema.ts';
import { isRecord } from './is-record.ts';

const allowsNull = (schema: OpenApi): boolean => schema.nullable === true;

/**
 * Adds the defaults of the schema to the value, as the API server does
 * (https://kubernetes.io/docs/tasks/extend-kubernetes/custom-resources/custom-resource-definitions/#defaulting): a null
 * in a field that is not nullable counts as absent, and defaults within a default apply. Idempotent.
 */
export function applyDefaults(schema: OpenApi, value: unknown): unknown {
  if (Array.isArray(value)) {
    const { items } = schema;
    return items ? value.map((item: unknown) => applyDefaults(items, item)) : value;
  }
  if (!isRecord(value)) return value;
  const { properties = {}, additionalProperties } = schema;
  const result = new Map<string, unknown>();
  for (const [name, field] of Object.entries(value)) {
    const of = Object.hasOwn(properties, name) ? properties[name] : additionalProperties;
    if (field === undefined || (field === null && of !== undefined && !allowsNull(of))) continue;
    result.set(name, of ? applyDefaults(of, field) : field);
  }
  for (const [name, of] of Object.entries(properties)) {
    if (of.default !== undefined && !result.has(name)) {
      result.set(name, applyDefaults(of, structuredClone(of.default)));
    }
  }
  return Object.fromEntries(result);
}
