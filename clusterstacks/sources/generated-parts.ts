import { createHash } from 'node:crypto';
import type { Manifest } from '../../api/meta.ts';
import { describe, identityOf } from '../../runtime/cache/object-id.ts';

/** A chart gives objects random names, so each rendering would leave other objects behind. */
export class UnstableNamesError extends Error {
  override readonly name = 'UnstableNamesError';
}

/** Two renderings of one chart, compared. */
export interface Renderings {
  /** Objects that are the same in both. */
  readonly stable: readonly Manifest[];
  /** Objects with random parts, such as certificates and passwords; all from one rendering, so that they match. */
  readonly generated: readonly Manifest[];
  /** Digest of all objects without their random parts. */
  readonly digest: string;
  /** The same for `generated` alone: while it is unchanged, the generated values are retained. */
  readonly generatedDigest: string;
}

/** Placeholder where two renderings differ. */
const byChance = '<generated>';

/** Separates what a chart generates at random from what follows from its values. Throws `UnstableNamesError`. */
export function compareRenderings(first: readonly Manifest[], second: readonly Manifest[]): Renderings {
  const others = new Map(second.map((manifest) => [identityOf(manifest), manifest]));
  const lone = first.find((manifest) => !others.has(identityOf(manifest)));
  if (lone !== undefined || others.size !== new Set(first.map(identityOf)).size) {
    const example = lone === undefined ? 'an object' : describe(lone);
    const message = `the chart gives ${example} a different name each time it is rendered, so each rendering would create another one; set a fixed name`;
    throw new UnstableNamesError(message);
  }
  const masked = first.map((manifest) => mask(manifest, others.get(identityOf(manifest))));
  const isStable = first.map((manifest, index) => isSame(manifest, masked[index]));
  return {
    stable: first.filter((_, index) => isStable[index] === true),
    generated: first.filter((_, index) => isStable[index] === false),
    digest: digestOf(masked),
    generatedDigest: digestOf(masked.filter((_, index) => isStable[index] === false)),
  };
}

/** A short hash of plain JSON; the order of fields matters. */
export function digestOf(value: unknown): string {
  return createHash('sha256').update(JSON.stringify(value)).digest('hex').slice(0, 32);
}

function isSame(a: unknown, b: unknown): boolean {
  return JSON.stringify(a) === JSON.stringify(b);
}

/** `a` with `byChance` wherever `b` differs. */
function mask(a: unknown, b: unknown): unknown {
  if (isSame(a, b)) return a;
  if (Array.isArray(a) && Array.isArray(b) && a.length === b.length)
    return a.map((item, index) => mask(item, b[index]));
  if (!isRecord(a) || !isRecord(b)) return byChance;
  const keys = [...new Set([...Object.keys(a), ...Object.keys(b)])].sort();
  return Object.fromEntries(keys.map((key) => [key, key in a && key in b ? mask(a[key], b[key]) : byChance]));
}

function isRecord(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
