import type { OpenApi } from '../schema.ts';
import { isRecord } from './is-record.ts';

/** A validation error of one field. */
export interface FieldProblem {
  /** Path relative to the validated value, e.g. `spec.ports[0].name`. */
  readonly field: string;
  readonly message: string;
}

type Check = (schema: OpenApi, value: unknown, path: string) => readonly FieldProblem[];

const shown = (value: unknown): string => JSON.stringify(value);
const child = (path: string, name: string): string => (path === '' ? name : `${path}.${name}`);

function typeNameOf(value: unknown): string {
  if (value === null) return 'null';
  if (Array.isArray(value)) return 'array';
  if (typeof value === 'number') return Number.isInteger(value) ? 'integer' : 'number';
  return typeof value;
}

const checkType: Check = (schema, value, path) => {
  const is = typeNameOf(value);
  if (value === null && schema.nullable === true) return [];
  const allowed = schema['x-kubernetes-int-or-string']
    ? ['integer', 'string']
    : schema.type
      ? [schema.type]
      : undefined;
  if (allowed === undefined || allowed.includes(is) || (is === 'integer' && allowed.includes('number'))) return [];
  return [
    { field: path, message: `Invalid value: ${shown(value)}: must be of type ${allowed.join(' or ')}, is ${is}` },
  ];
};

const checkText: Check = (schema, value, path) => {
  if (typeof value !== 'string') return [];
  const problems: string[] = [];
  const length = Array.from(value).length;
  if (schema.enum && !schema.enum.includes(value)) {
    problems.push(`Unsupported value: ${shown(value)}: supported values: ${schema.enum.map(shown).join(', ')}`);
  }
  if (schema.minLength !== undefined && length < schema.minLength) {
    problems.push(`Invalid value: ${shown(value)}: should be at least ${schema.minLength} chars long`);
  }
  if (schema.maxLength !== undefined && length > schema.maxLength) {
    problems.push(`Too long: may not be more than ${schema.maxLength} characters`);
  }
  if (schema.pattern !== undefined && !new RegExp(schema.pattern, 'u').test(value)) {
    problems.push(`Invalid value: ${shown(value)}: should match '${schema.pattern}'`);
  }
  if (schema.format === 'date-time' && Number.isNaN(Date.parse(value))) {
    problems.push(`Invalid value: ${shown(value)}: must be an RFC 3339 time`);
  }
  if (schema.format === 'byte' && !/^[A-Za-z0-9+/]*={0,2}$/.test(value)) {
    problems.push('Invalid value: must be base64');
  }
  return problems.map((message) => ({ field: path, message }));
};

const bounds: Readonly<Record<string, readonly [number, number]>> = {
  int32: [-(2 ** 31), 2 ** 31 - 1],
};

const checkNumber: Check = (schema, value, path) => {
  if (typeof value !== 'number') return [];
  const [low, high] = bounds[schema.format ?? ''] ?? [-Infinity, Infinity];
  const minimum = Math.max(low, schema.minimum ?? -Infinity);
  const maximum = Math.min(high, schema.maximum ?? Infinity);
  if (value < minimum) {
    return [{ field: path, message: `Invalid value: ${value}: should be greater than or equal to ${minimum}` }];
  }
  if (value > maximum) {
    return [{ field: path, message: `Invalid value: ${value}: should be less than or equal to ${maximum}` }];
  }
  return [];
};

/** The part of an item that must be unique in its list; undefined if duplicates are allowed. */
function identityOf(schema: OpenApi): ((item: unknown) => string) | undefined {
  const kind = schema['x-kubernetes-list-type'];
  if (kind === 'set') return shown;
  const keys = schema['x-kubernetes-list-map-keys'];
  if (kind !== 'map' || keys === undefined) return undefined;
  return (item) => shown(isRecord(item) ? keys.map((key) => item[key]) : item);
}

const checkList: Check = (schema, value, path) => {
  if (!Array.isArray(value)) return [];
  const problems: FieldProblem[] = [];
  const items: readonly unknown[] = value;
  if (schema.minItems !== undefined && items.length < schema.minItems) {
    problems.push({ field: path, message: `Invalid value: should have at least ${schema.minItems} items` });
  }
  if (schema.maxItems !== undefined && items.length > schema.maxItems) {
    problems.push({ field: path, message: `Too many: must have at most ${schema.maxItems} items` });
  }
  const identity = identityOf(schema);
  const seen = new Set<string>();
  for (const [index, item] of items.entries()) {
    const here = `${path}[${index}]`;
    const id = identity?.(item);
    if (id !== undefined && seen.has(id)) problems.push({ field: here, message: `Duplicate value: ${id}` });
    if (id !== undefined) seen.add(id);
    if (schema.items) problems.push(...validate(schema.items, item, here));
  }
  return problems;
};

const checkObject: Check = (schema, value, path) => {
  if (!isRecord(value)) return [];
  const { properties = {}, required = [], additionalProperties } = schema;
  const missing = required
    .filter((name) => value[name] === undefined)
    .map((name) => ({ field: child(path, name), message: 'Required value' }));
  const within = Object.entries(value).flatMap(([name, field]) => {
    const of = Object.hasOwn(properties, name) ? properties[name] : additionalProperties;
    return of && field !== undefined ? validate(of, field, child(path, name)) : [];
  });
  return [...missing, ...within];
};

const checks: readonly Check[] = [checkType, checkText, checkNumber, checkList, checkObject];

/**
 * Validates a value against its schema, as the API server does: types, required fields, enums, ranges, lengths,
 * patterns, and duplicates in sets and map lists. Does not evaluate CEL rules. Unknown fields are not an error: see
 * `prune`.
 */
export function validate(schema: OpenApi, value: unknown, path = ''): readonly FieldProblem[] {
  return checks.flatMap((check) => check(schema, value, path));
}
