import { readdir, readFile } from 'node:fs/promises';
import path from 'node:path';
import { expect, test } from '@jest/globals';
import { parse } from 'yaml';

const folder = path.join(import.meta.dirname, '..', '..', '.github', 'workflows');

const files = (await readdir(folder)).filter((file) => file.endsWith('.yaml'));

const uses = (
  await Promise.all(
    files.map(async (file) => (await readFile(path.join(folder, file), 'utf8')).match(/uses:.*$/gm) ?? []),
  )
).flat();

test('there are workflows, and they use actions', () => {
  expect(files).not.toEqual([]);
  expect(uses.length).toBeGreaterThan(0);
});

test.each(uses)('%s names a commit, which nobody can move, and the version that it is', (line) => {
  expect(line).toMatch(/^uses: [\w-]+\/[\w/-]+@[0-9a-f]{40} # v\d+\.\d+\.\d+$/);
});

test.each(files)('%s says which permissions its token has', async (file) => {
  const workflow: unknown = parse(await readFile(path.join(folder, file), 'utf8'));
  expect(workflow).toHaveProperty('permissions.contents');
});
