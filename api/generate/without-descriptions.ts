import type { OpenApi } from '../schema.ts';

/** The same schema without texts. */
export function withoutDescriptions(schema: OpenApi): OpenApi {
  const { properties, items, additionalProperties } = schema;
  const rest = Object.entries(schema).filter(([key]) => key !== 'description');
  const each = properties && Object.entries(properties).map(([name, field]) => [name, withoutDescriptions(field)]);
  return {
    ...(Object.fromEntries(rest) as OpenApi),
    ...(each && { properties: Object.fromEntries(each) as Readonly<Record<string, OpenApi>> }),
    ...(items && { items: withoutDescriptions(items) }),
    ...(additionalProperties && { additionalProperties: withoutDescriptions(additionalProperties) }),
  };
}
