import { expect, test } from '@jest/globals';
import { mutantsOf } from './mutants-of.ts';
import { withoutTwins } from './without-twins.ts';

const source = 'function f() { return a < b; }';
const names = (...files: readonly string[]): readonly string[] =>
  withoutTwins(files.flatMap((file) => mutantsOf(file, source))).map(({ id }) => id);

test('a mutant keeps its name when its file moves to another folder', () => {
  expect(names('runtime/x.ts')).toEqual(names('runtime/queue/x.ts'));
});

test('mutants of two files of one name have names of their own', () => {
  const both = names('runtime/x.ts', 'stores/x.ts');
  expect(new Set(both).size).toBe(both.length);
});
