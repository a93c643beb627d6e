import { createHash } from 'node:crypto';
import type { PreparedTemplate } from './prepared-template.ts';

/** A hash of a template as a label value. It does not depend on the order of keys. */
export function templateHash(template: PreparedTemplate): string {
  return createHash('sha256')
    .update(JSON.stringify(sorted(template)))
    .digest('hex')
    .slice(0, 16);
}

function sorted(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(sorted);
  if (typeof value !== 'object' || value === null) return value;
  const entries = Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1));
  return Object.fromEntries(entries.map(([key, field]) => [key, sorted(field)]));
}
