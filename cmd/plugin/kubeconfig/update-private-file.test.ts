import { mkdtemp, readdir, readFile, rm, stat, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from '@jest/globals';
import { updatePrivateFile } from './update-private-file.ts';

let folder: string;

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'steward-private-'));
});

afterEach(() => rm(folder, { recursive: true, force: true }));

test('a file that was left behind does not decide who may read the new one', async () => {
  const file = join(folder, 'config');
  await writeFile(`${file}.new`, 'stale', { mode: 0o644 });
  await updatePrivateFile(file, () => 'secret');
  expect(await readFile(file, 'utf8')).toBe('secret');
  expect((await stat(file)).mode & 0o777).toBe(0o600);
  expect(await readdir(folder)).toEqual(['config']);
});

test('a link that was planted is not written through', async () => {
  const file = join(folder, 'config');
  const elsewhere = join(folder, 'elsewhere');
  await writeFile(elsewhere, 'theirs');
  await symlink(elsewhere, `${file}.new`);
  await updatePrivateFile(file, () => 'secret');
  expect(await readFile(elsewhere, 'utf8')).toBe('theirs');
  expect(await readFile(file, 'utf8')).toBe('secret');
});
