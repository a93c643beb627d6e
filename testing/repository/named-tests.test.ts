import { expect, test } from '@jest/globals';
import { absentTests } from './named-tests.ts';

test('A named test is absent if its file is, or if no test there has its title', () => {
  const file = 'testing/repository/named-tests.test.ts';
  const there = { file, title: 'A named test is absent if its file is, or if no test there has its title' };
  const missing = [
    { file, title: 'A named test' },
    { ...there, file: 'testing/gone.test.ts' },
  ];
  expect(absentTests([there, ...missing])).toEqual(missing);
});

test.each(['names of tests with values'])(
  'A parameterized test, such as one with %s, is found by its title on a page',
  () => {
    const file = 'testing/repository/named-tests.test.ts';
    const written = { file, title: 'A parameterized test, such as one with %s, is found by its title on a page' };
    const shown = { file, title: written.title.replace('%s', '…') };
    const other = { file, title: written.title.replace('%s', 'none') };
    expect(absentTests([written, shown, other])).toEqual([other]);
  },
);
