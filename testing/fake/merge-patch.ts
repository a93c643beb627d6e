import { isFields, type Fields } from './stored-object.ts';

/** JSON merge patch (RFC 7396). The target is not changed. */
export function mergePatch(target: unknown, patch: unknown): unknown {
  if (!isFields(patch)) return patch;
  const result: Fields = isFields(target) ? { ...target } : {};
  for (const [key, value] of Object.entries(patch)) {
    if (value === null) Reflect.deleteProperty(result, key);
    else if (value !== undefined) result[key] = mergePatch(result[key], value);
  }
  return result;
}
