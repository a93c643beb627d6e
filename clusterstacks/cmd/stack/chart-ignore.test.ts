import { expect, test } from '@jest/globals';
import { withoutIgnored } from './chart-ignore.ts';

const kept = (ignore: string, ...paths: readonly string[]): readonly string[] => {
  const files = new Map([
    ['.helmignore', Buffer.from(ignore)],
    ...paths.map((path) => [path, Buffer.alloc(0)] as const),
  ]);
  return [...withoutIgnored(files).keys()].filter((path) => path !== '.helmignore');
};

test.each([
  ['*.swp', ['a.yaml', 'b.swp', 'templates/c.swp'], ['a.yaml']],
  ['.git/', ['.git/config', 'x/.git/config', '.gitignore'], ['.gitignore']],
  ['/notes.md', ['notes.md', 'templates/notes.md'], ['templates/notes.md']],
  ['ci/*.yaml', ['ci/a.yaml', 'x/ci/a.yaml', 'ci/b.txt'], ['x/ci/a.yaml', 'ci/b.txt']],
  ['# comment\n\n?.bak', ['a.bak', 'ab.bak'], ['ab.bak']],
  ['', ['templates/.hidden', '.kept', 'templates/shown'], ['.kept', 'templates/shown']],
])('.helmignore %j excludes what helm would exclude', (ignore, paths, expected) => {
  expect(kept(ignore, ...paths)).toEqual(expected);
});

test('An exception in .helmignore is refused rather than misread', () => {
  expect(() => kept('!keep.yaml')).toThrow('"!keep.yaml": exceptions are not supported');
});
