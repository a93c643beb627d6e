import { readdir, readFile } from 'node:fs/promises';
import path from 'node:path';

import { expect, test } from '@jest/globals';

const folder = path.join(import.meta.dirname, '../scenarios');
const files = (await readdir(folder)).filter((name) => name.endsWith('.test.ts'));

test('there are scenarios', () => {
  expect(files.length).toBeGreaterThan(15);
});

test.each(files)('%s disposes of its resources as a whole, after which the host is checked', async (file) => {
  const text = await readFile(path.join(folder, file), 'utf8');
  expect(text).toMatch(/^const owned = scenarioResources\(\);$/m);
  expect(text).toMatch(/\bowned\.harness\(/);
  expect(text).not.toMatch(/\bafterAll\(/);
});
