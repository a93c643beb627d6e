import type { Json } from '../../api/meta.ts';

type Fields = Readonly<Record<string, unknown>>;

/**
 * The JSON merge patch (RFC 7396) that turns `before` into `after`; undefined when there is nothing to do. Removed fields
 * become null, lists are replaced as a whole, and values such as 0, false, '' and {} are values like any other. A field
 * that is undefined or null counts as absent: a merge patch cannot express null.
 */
export function mergePatchOf(before: unknown, after: unknown): Json | undefined {
  if (!isFields(before) || !isFields(after)) return sameJson(before, after) ? undefined : withoutNulls(after);
  const patch: Record<string, Json> = {};
  for (const key of new Set([...Object.keys(before), ...Object.keys(after)])) {
    const [old, wanted] = [fieldOf(before, key), fieldOf(after, key)];
    if (wanted === undefined) {
      if (old !== undefined) patch[key] = null;
      continue;
    }
    const change = old === undefined ? withoutNulls(wanted) : mergePatchOf(old, wanted);
    if (change !== undefined) patch[key] = change;
  }
  return Object.keys(patch).length === 0 ? undefined : patch;
}

/** Own fields only: every object inherits some, such as `constructor`. */
function fieldOf(fields: Fields, key: string): unknown {
  return Object.hasOwn(fields, key) ? (fields[key] ?? undefined) : undefined;
}

function isFields(value: unknown): value is Fields {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** The value as JSON carries it, without fields that are undefined or null; lists keep their nulls. */
function withoutNulls(value: unknown): Json {
  if (!isFields(value)) return (value ?? null) as Json;
  const kept = Object.entries(value).filter(([, field]) => field !== undefined && field !== null);
  return Object.fromEntries(kept.map(([key, field]) => [key, withoutNulls(field)]));
}

/** Equal as JSON, in any order of fields. */
export function sameJson(a: unknown, b: unknown): boolean {
  if (a === b) return true;
  if (Array.isArray(a) && Array.isArray(b)) {
    return a.length === b.length && a.every((one: unknown, n) => sameJson(one, b[n]));
  }
  if (!isFields(a) || !isFields(b)) return false;
  return [...new Set([...Object.keys(a), ...Object.keys(b)])].every((key) =>
    sameJson(Object.hasOwn(a, key) ? a[key] : undefined, Object.hasOwn(b, key) ? b[key] : undefined),
  );
}
