import type { ObjectMeta } from '../../api/meta.ts';

/** Plain JSON object whose fields are not known. */
export type Fields = Record<string, unknown>;

/** An object as the fake server keeps it: ours to change. */
export interface StoredObject {
  apiVersion: string;
  kind: string;
  metadata: { -readonly [K in keyof ObjectMeta]: ObjectMeta[K] };
  spec?: unknown;
  status?: unknown;
  [field: string]: unknown;
}

export function isFields(value: unknown): value is Fields {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** Equality of JSON values; the order of keys does not count, and an absent key equals an undefined one. */
export function sameJson(a: unknown, b: unknown): boolean {
  if (a === b) return true;
  if (Array.isArray(a) && Array.isArray(b)) {
    return a.length === b.length && a.every((item, index) => sameJson(item, b[index]));
  }
  if (!isFields(a) || !isFields(b)) return false;
  for (const key in a) if (!sameJson(a[key], b[key])) return false;
  for (const key in b) if (!(key in a) && b[key] !== undefined) return false;
  return true;
}

/** A copy without these fields. */
export function omit<T extends object>(object: T, ...fields: readonly (string & keyof T)[]): Partial<T> {
  return Object.fromEntries(
    Object.entries(object).filter(([key]) => !(fields as readonly string[]).includes(key)),
  ) as Partial<T>;
}

/** A deep copy of a JSON value. Not `structuredClone`: its objects are of another realm in jest, which `toStrictEqual` sees. */
export function copyOf<T>(value: T): T {
  if (typeof value !== 'object' || value === null) return value;
  if (Array.isArray(value)) return value.map(copyOf) as T;
  const copy: Fields = {};
  for (const key in value) {
    const child: unknown = value[key];
    if (child !== undefined) copy[key] = copyOf(child);
  }
  return copy as T;
}
