import { coreTypeOf } from '../../api/core/core-schema.ts';
import type { Json } from '../../api/meta.ts';
import type { OpenApi } from '../../api/schema.ts';
import { obj } from '../../api/schema.ts';

/**
 * A value of the schema with every field of ours, and of embedded Kubernetes types the required ones. It does not follow a
 * `pattern`: a test that needs such a field gives its value.
 */
export function sampleValue(schema: OpenApi): Json {
  const { type, properties, required = [], items, additionalProperties, minimum = 1 } = schema;
  if (schema.enum?.[0] !== undefined) return schema.enum[0];
  if (type === 'boolean') return true;
  if (type === 'integer' || type === 'number' || schema['x-kubernetes-int-or-string'] === true) return minimum;
  if (type === 'array') return items === undefined ? [] : [sampleValue(items)];
  if (type !== 'object') return 'sample';
  if (additionalProperties !== undefined) return { sample: sampleValue(additionalProperties) };
  const isOurs = coreTypeOf(schema) === undefined;
  const fields = Object.entries(properties ?? {}).filter(([name]) => isOurs || required.includes(name));
  return Object.fromEntries(fields.map(([name, field]) => [name, sampleValue(field)]));
}

/** Such a value for every one of the fields. */
export function sampleOf<F extends Parameters<typeof obj>[0]>(fields: F): Readonly<Record<keyof F, Json>> {
  return sampleValue(obj(fields).openapi) as Readonly<Record<keyof F, Json>>;
}
