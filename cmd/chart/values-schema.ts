import type { ChartValue } from './chart-values.ts';

/** The JSON schema that Helm checks values against (`values.schema.json`). It refuses unknown names. */
export function valuesSchema(title: string, values: readonly ChartValue[]): string {
  const schema = { $schema: 'http://json-schema.org/draft-07/schema#', title, ...objectSchema(values) };
  return `${JSON.stringify(schema, null, 2)}\n`;
}

const objectSchema = (values: readonly ChartValue[]): object => ({
  type: 'object',
  properties: Object.fromEntries(values.map((value) => [value.name, schemaOf(value)])),
  additionalProperties: false,
});

function schemaOf({ description, values, schema, default: byDefault }: ChartValue): object {
  if (values !== undefined) return { description, ...objectSchema(values) };
  const type = typeOf(byDefault);
  const items = type === 'array' && { items: { type: 'object' } };
  return { description, type, default: byDefault, ...items, ...schema };
}

const typeOf = (value: unknown): string =>
  Array.isArray(value) ? 'array' : typeof value === 'number' ? 'integer' : typeof value;
