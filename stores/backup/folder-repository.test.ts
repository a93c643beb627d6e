import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { mkdtemp, readdir, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { FolderRepository } from './folder-repository.ts';
import { describeRepository } from './repository-contract.ts';

const newFolder = (): Promise<string> => mkdtemp(join(tmpdir(), 'steward-repository-'));

describeRepository('a folder', async () => {
  const made = [await newFolder()];
  return {
    empty: async () => {
      const folder = await newFolder();
      made.push(folder);
      return () => new FolderRepository(folder);
    },
    missing: () => new FolderRepository(join(made[0] ?? '', 'missing')),
    [Symbol.asyncDispose]: async () => {
      await Promise.all(made.map((folder) => rm(folder, { recursive: true, force: true })));
    },
  };
});

describe('a folder of backups', () => {
  let root = '';
  beforeEach(async () => {
    root = await newFolder();
  });
  afterEach(async () => {
    await rm(root, { recursive: true, force: true });
  });

  test('does not list what a process that died had not finished', async () => {
    const repository = new FolderRepository(root);
    await repository.write('a/b', Buffer.from('x'));
    expect(await readdir(join(root, 'a'))).toEqual(['b']);
    await writeFile(join(root, 'a', 'c.123.unfinished'), 'half');
    expect(await repository.list('a/')).toEqual(['a/b']);
  });

  test('says what is missing where a volume is not mounted', async () => {
    const repository = new FolderRepository(join(root, 'missing'));
    await expect(repository.write('a', Buffer.from('x'))).rejects.toThrow('ENOENT');
    await expect(repository.list('a/')).rejects.toThrow(`the repository in ${root}/missing failed`);
  });
});
