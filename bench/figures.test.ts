import { expect, test } from '@jest/globals';

import { figures } from './figures.ts';
import { presentations } from './report/presentations.ts';

const all = Object.values(figures).flat();

test('Every benchmark has a name of its own', () => {
  const names = all.map(({ presentation }) => presentation.name);
  expect(new Set(names).size).toBe(names.length);
});

test('Every benchmark is shown on the page of benchmarks once its result is committed', () => {
  const shown = presentations.map(({ name }) => name);
  expect(all.map(({ presentation }) => presentation.name).filter((name) => !shown.includes(name))).toEqual([]);
});
