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
