import { expect, test } from '@jest/globals';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { killersOf, readKillers } from './killers.ts';
import type { Mutant } from './mutant.ts';
import { mutantsOf } from './mutants-of.ts';
import { root } from './places.ts';

const [first, second, third] = mutantsOf('runtime/x.ts', 'export const f = (a) => a < 3 || a > 5;') as [
  Mutant,
  Mutant,
  Mutant,
];

test('the file of tests that killed a mutant is recorded, and nothing of one that survived', () => {
  const killers = killersOf([
    { mutant: first, verdict: { killed: true, by: 'runtime/x.test.ts: sees it', test: 'runtime/x.test.ts' } },
    { mutant: second, verdict: { killed: false, by: '2 files pass' } },
    { mutant: third, verdict: { killed: true, by: 'took too long' } },
  ]);
  expect(killers).toEqual({ [first.id]: 'runtime/x.test.ts' });
});

test('each recorded killer is a file of tests that exists', () => {
  for (const file of Object.values(readKillers())) {
    expect(file).toMatch(/\.test\.ts$/);
    expect([file, existsSync(join(root, file))]).toEqual([file, true]);
  }
});
