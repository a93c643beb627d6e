import type { ChartValue, ChartValues } from './chart-value.ts';

/** The JSON schema that Helm checks values against (`values.schema.json`); a name that is not there is refused. */
export function valuesSchema(title: string, values: ChartValues): object {
  return {
    $schema: 'http://json-schema.org/draft-07/schema#',
    title,
    ...objectSchema(values),
  };
}

function objectSchema(values: ChartValues): object {
  return {
    type: 'object',
    // Helm hands `global` to every chart.
    properties: Object.fromEntries(Object.entries(values).map(([name, value]) => [name, schemaOf(value)])),
    additionalProperties: false,
  };
}

function schemaOf({ properties, items, type, description, default: byDefault, ...rest }: ChartValue): object {
  if (properties !== undefined) return { description, ...objectSchema(properties) };
  return {
    description,
    type,
    default: byDefault,
    ...rest,
    ...(type === 'array' && { items: { type: items ?? 'object' } }),
  };
}
