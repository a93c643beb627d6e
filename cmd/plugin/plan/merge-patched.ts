import { isRecord } from '../../../api/structural/is-record.ts';

/** The target after a JSON merge patch (RFC 7396). */
export function mergePatched(target: unknown, patch: unknown): unknown {
  if (!isRecord(patch)) return patch;
  const result: Record<string, unknown> = isRecord(target) ? { ...target } : {};
  for (const [key, value] of Object.entries(patch)) {
    if (value === null) Reflect.deleteProperty(result, key);
    else if (value !== undefined) result[key] = mergePatched(result[key], value);
  }
  return result;
}
