import type { OpenApi, Referral } from '../schema.ts';
import { withoutDescriptions } from './without-descriptions.ts';

/**
 * The schema with a part that another kind explains: of that part, only the first fields are described. The whole of it would make the
 * definition as large as that of the other kind, although nothing of its validation differs.
 */
export function referredSchema(schema: OpenApi, { path, explained }: Referral): OpenApi {
  return at(schema, path.split('.'), (part) => ({
    ...part,
    description: `${part.description ?? ''} What is in these fields: \`kubectl explain ${explained}\`.`.trim(),
    properties: mapped(part.properties, ({ description, ...rest }) => ({
      ...withoutDescriptions(rest),
      ...(description !== undefined && { description }),
    })),
  }));
}

function at(schema: OpenApi, [name, ...rest]: readonly string[], change: (part: OpenApi) => OpenApi): OpenApi {
  if (name === undefined) return change(schema);
  const part = schema.properties?.[name];
  if (part === undefined) throw new Error(`the schema has no field ${name}`);
  return { ...schema, properties: { ...schema.properties, [name]: at(part, rest, change) } };
}

function mapped(
  fields: OpenApi['properties'] = {},
  change: (field: OpenApi) => OpenApi,
): Readonly<Record<string, OpenApi>> {
  return Object.fromEntries(Object.entries(fields).map(([name, field]) => [name, change(field)]));
}
