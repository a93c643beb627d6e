import { isRecord } from '../../../api/structural/is-record.ts';
import { atomicMaps, itemKeys } from './list-keys.ts';

/**
 * What an apply of `next` makes of `live`, after an apply of `previous` by the same field manager: the applied fields win, fields that are
 * no longer applied are removed, and those of others stay. `previous` is undefined if it is not known: then nothing is removed.
 */
export function mergeApplied(live: unknown, previous: unknown, next: unknown, field = ''): unknown {
  if (isRecord(live) && isRecord(next) && !atomicMaps.has(field)) return mergeFields(live, previous, next);
  if (Array.isArray(live) && Array.isArray(next)) return mergeItems(live, previous, next, field);
  return next;
}

function mergeFields(
  live: Readonly<Record<string, unknown>>,
  previous: unknown,
  next: Readonly<Record<string, unknown>>,
): unknown {
  const before = isRecord(previous) ? previous : {};
  const merged: Record<string, unknown> = {};
  for (const [key, value] of Object.entries(live)) {
    const wanted = next[key];
    const after =
      wanted === undefined ? without(value, before[key], key) : mergeApplied(value, before[key], wanted, key);
    if (after !== undefined) merged[key] = after;
  }
  for (const [key, value] of Object.entries(next)) if (value !== undefined && !(key in live)) merged[key] = value;
  return merged;
}

function mergeItems(
  live: readonly unknown[],
  previous: unknown,
  next: readonly unknown[],
  field: string,
): readonly unknown[] {
  const [liveKeys, nextKeys] = [itemKeys(field, live), itemKeys(field, next)];
  if (liveKeys === undefined || nextKeys === undefined) return next;
  const before: readonly unknown[] = Array.isArray(previous) ? previous : [];
  const beforeKeys = itemKeys(field, before) ?? [];
  const items = next.map((item, index) => {
    const key = nextKeys[index] ?? '';
    const at = liveKeys.indexOf(key);
    return at < 0 ? item : mergeApplied(live[at], before[beforeKeys.indexOf(key)], item);
  });
  const others = live.filter((_, index) => {
    const key = liveKeys[index] ?? '';
    return !nextKeys.includes(key) && !beforeKeys.includes(key);
  });
  return [...items, ...others];
}

/** The value without what `previous` applied to it; undefined if nothing is left. */
function without(value: unknown, previous: unknown, field: string): unknown {
  if (previous === undefined) return value;
  if (!isRecord(value) || !isRecord(previous) || atomicMaps.has(field)) return undefined;
  const left = Object.entries(value).flatMap(([key, child]) => {
    const kept = without(child, previous[key], key);
    return kept === undefined ? [] : [[key, kept] as const];
  });
  return left.length === 0 ? undefined : Object.fromEntries(left);
}
