import type { OpenApi, Schema } from '../../../schema.ts';

/**
 * The schema without rules that compare a value with the one before it. They hold for a control plane that exists; what is created from
 * a template is new. Parts without such rules are the same values as before, by which embedded types are known.
 */
export function withoutTransitions<T, I>(schema: Schema<T, I>): Schema<T, I> {
  return { openapi: stripped(schema.openapi) };
}

function stripped(schema: OpenApi): OpenApi {
  const { properties, items, additionalProperties, 'x-kubernetes-validations': rules, ...rest } = schema;
  const kept = rules?.filter(({ rule }) => !rule.includes('oldSelf'));
  const [fields, item, value] = [
    properties && strippedFields(properties),
    items && stripped(items),
    additionalProperties && stripped(additionalProperties),
  ];
  const isSame =
    kept?.length === rules?.length && fields === properties && item === items && value === additionalProperties;
  if (isSame) return schema;
  return {
    ...rest,
    ...(kept !== undefined && kept.length > 0 && { 'x-kubernetes-validations': kept }),
    ...(fields && { properties: fields }),
    ...(item && { items: item }),
    ...(value && { additionalProperties: value }),
  };
}

type Fields = Readonly<Record<string, OpenApi>>;

function strippedFields(fields: Fields): Fields {
  const all = Object.entries(fields).map(([name, field]) => [name, field, stripped(field)] as const);
  if (all.every(([, before, after]) => before === after)) return fields;
  return Object.fromEntries(all.map(([name, , after]) => [name, after]));
}
