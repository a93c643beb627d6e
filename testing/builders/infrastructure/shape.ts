/** A field: a scalar, a map of texts, anything, a list of one shape, or an object. */
export type Shape =
  | 'text'
  | 'word'
  | 'number'
  | 'port'
  | 'flag'
  | 'map'
  | 'quantity'
  | 'anything'
  | readonly [Shape]
  | { readonly [field: string]: Shape };

type Schema = Readonly<Record<string, unknown>>;

const scalars: Readonly<Record<string, Schema>> = {
  text: { type: 'string' },
  word: { type: 'string', minLength: 1 },
  number: { type: 'integer' },
  port: { type: 'integer', format: 'int32', minimum: 1, maximum: 65_535 },
  flag: { type: 'boolean' },
  map: { type: 'object', additionalProperties: { type: 'string' } },
  quantity: { 'x-kubernetes-int-or-string': true },
  anything: { type: 'object', 'x-kubernetes-preserve-unknown-fields': true },
};

/** The structural schema of a shape. A field whose name ends with `!` is required; what is not named is pruned. */
export function schemaOf(shape: Shape): Schema {
  if (typeof shape === 'string') return scalars[shape] ?? {};
  if (isList(shape)) return { type: 'array', items: schemaOf(shape[0]) };
  const fields = Object.entries(shape).map(([name, field]) => [name.replace(/!$/, ''), schemaOf(field)] as const);
  const required = Object.keys(shape).flatMap((name) => (name.endsWith('!') ? [name.slice(0, -1)] : []));
  return {
    type: 'object',
    properties: Object.fromEntries(fields),
    ...(required.length === 0 ? {} : { required }),
  };
}

const isList = (shape: Exclude<Shape, string>): shape is readonly [Shape] => Array.isArray(shape);
