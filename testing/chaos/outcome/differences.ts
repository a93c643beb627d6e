import { isFields } from '../../fake/stored-object.ts';
import type { WorldShape } from './world-shape.ts';

/** How a run has ended other than one that nothing disturbed. */
export interface Differences {
  /** Objects, users or data that are left over or doubled. */
  readonly leftOver: readonly string[];
  readonly missing: readonly string[];
  /** Values with their place. */
  readonly changed: readonly string[];
}

/** The places at which these differ: nothing can be expected of a third run there. */
export function noiseBetween(one: WorldShape, other: WorldShape): ReadonlySet<string> {
  const places = [...one].flatMap(([name, value]) =>
    other.has(name) ? [...changedPlaces(value, other.get(name))].map(([place]) => `${name} ${place}`) : [],
  );
  return new Set(places);
}

/** Compares a run with one that nothing disturbed. */
export function differencesOf(expected: WorldShape, found: WorldShape, noise: ReadonlySet<string>): Differences {
  return {
    leftOver: [...found.keys()].filter((name) => !expected.has(name)),
    missing: [...expected.keys()].filter((name) => !found.has(name)),
    changed: [...expected].flatMap(([name, value]) => {
      if (!found.has(name)) return [];
      return [...changedPlaces(value, found.get(name))].flatMap(([place, text]) =>
        noise.has(`${name} ${place}`) ? [] : [`${name} ${place}: ${text}`],
      );
    }),
  };
}

export function isNone({ leftOver, missing, changed }: Differences): boolean {
  return leftOver.length + missing.length + changed.length === 0;
}

/** Each place at which two values differ, with how. */
function* changedPlaces(one: unknown, other: unknown, place = ''): Iterable<readonly [place: string, text: string]> {
  if (Array.isArray(one) && Array.isArray(other) && one.length === other.length) {
    for (const [at, value] of one.entries()) yield* changedPlaces(value, other[at], `${place}[${at}]`);
    return;
  }
  if (isFields(one) && isFields(other)) {
    for (const key of new Set([...Object.keys(one), ...Object.keys(other)]))
      yield* changedPlaces(one[key], other[key], place === '' ? key : `${place}.${key}`);
    return;
  }
  if (JSON.stringify(one) !== JSON.stringify(other)) yield [place, `${textOf(other)} instead of ${textOf(one)}`];
}

const longestText = 300;

function textOf(value: unknown): string {
  const text = value === undefined ? 'nothing' : JSON.stringify(value);
  return text.length > longestText ? `${text.slice(0, longestText)}…` : text;
}
