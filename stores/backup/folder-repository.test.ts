import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { mkdtemp, readdir, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { RepositoryError } from './backup-repository.ts';
import { FolderRepository } from './folder-repository.ts';

let root = '';
beforeEach(async () => {
  root = await mkdtemp(join(tmpdir(), 'steward-repository-'));
});
afterEach(async () => {
  await rm(root, { recursive: true, force: true });
});

describe('a repository in a folder', () => {
  test('gives back what was written last, and lists it in order', async () => {
    const repository = new FolderRepository(root);
    await repository.write('a/c/2', Buffer.from('two'));
    await repository.write('a/b', Buffer.from('former'));
    await repository.write('a/b', Buffer.from('new'));
    await repository.write('other/b', Buffer.from('x'));
    expect(Buffer.from((await repository.read('a/b')) ?? []).toString()).toBe('new');
    expect(await repository.list('a/')).toEqual(['a/b', 'a/c/2']);
    expect(await repository.list('a/c/')).toEqual(['a/c/2']);
    expect(await repository.list('none/')).toEqual([]);
    expect(await repository.read('a/none')).toBeUndefined();
  });

  test('removes files, also those that do not exist', async () => {
    const repository = new FolderRepository(root);
    await repository.write('a/b', Buffer.from('x'));
    await repository.remove('a/b');
    await repository.remove('a/b');
    expect(await repository.list('a/')).toEqual([]);
  });

  test('does not list what a process that died had not finished', async () => {
    const repository = new FolderRepository(root);
    await repository.write('a/b', Buffer.from('x'));
    expect(await readdir(join(root, 'a'))).toEqual(['b']);
    await writeFile(join(root, 'a', 'c.123.unfinished'), 'half');
    expect(await repository.list('a/')).toEqual(['a/b']);
  });

  test.each(['../a', 'a/../../b', '/etc/passwd', 'a//b', '', 'a/./b', 'a b'])('refuses the name %j', async (name) => {
    const repository = new FolderRepository(root);
    await expect(repository.write(name, Buffer.from('x'))).rejects.toThrow(RepositoryError);
    await expect(repository.read(name)).rejects.toThrow('is not a name of a file');
  });

  test('fails where its folder does not exist: a volume is not mounted', async () => {
    const repository = new FolderRepository(join(root, 'missing'));
    await expect(repository.write('a', Buffer.from('x'))).rejects.toThrow('ENOENT');
    await expect(repository.list('a/')).rejects.toThrow(`the repository in ${root}/missing failed`);
  });
});
