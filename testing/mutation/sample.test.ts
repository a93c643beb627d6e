import { expect, test } from '@jest/globals';
import type { Mutant } from './mutant.ts';
import { mutantsOf } from './mutants-of.ts';
import { sampled, sampleOf } from './sample.ts';

const code = (from: number, to: number): string =>
  Array.from({ length: to - from }, (_, at) => `export const f${from + at} = (a, b) => a < b;`).join('\n');
const ids = (mutants: readonly Mutant[]): ReadonlySet<string> =>
  new Set(sampleOf(mutants, 'runtime').map(({ id }) => id));

test('the sample of a room has the given size, is always the same, and contains no other room', () => {
  const mutants = mutantsOf('runtime/a.ts', code(0, 500));
  const others = mutantsOf('stores/a.ts', code(0, 500));
  expect(ids([...others, ...mutants])).toEqual(ids(mutants));
  expect(ids(mutants).size).toBe(sampled.runtime);
});

test('most of the sample stays when code is added', () => {
  const before = ids(mutantsOf('runtime/a.ts', code(0, 500)));
  const after = ids([...mutantsOf('runtime/a.ts', code(0, 500)), ...mutantsOf('runtime/b.ts', code(500, 550))]);
  const kept = [...before].filter((id) => after.has(id)).length;
  expect(kept).toBeGreaterThan(sampled.runtime * 0.75);
});

test('mutants of mere names are sampled less often than those of decisions', () => {
  const source = Array.from({ length: 300 }, (_, at) => `export const g${at} = a < b ? 'name${at}' : c;`).join('\n');
  const sample = sampleOf(mutantsOf('runtime/a.ts', source), 'runtime');
  const named = sample.filter(({ operator }) => operator === 'other literal').length;
  expect(named).toBeLessThan(sampled.runtime / 5);
});
