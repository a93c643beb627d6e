import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { randomBytes } from 'node:crypto';
import { RepositoryError } from './backup-repository.ts';
import type { BackupRepository } from './backup-repository.ts';

/** A kind of repository that is tested. */
export interface RepositoryUnderTest extends AsyncDisposable {
  /** An empty repository. Each call of the result opens it once more, as another process does. */
  empty(): Promise<() => BackupRepository>;
  /** One whose place does not exist: the volume is not mounted, the bucket was not made. */
  missing(): BackupRepository;
  /** How many files are listed; by default more than a server gives in two answers. */
  readonly many?: number;
}

const bytes = (text: string): Uint8Array => Buffer.from(text);

async function textOf(repository: BackupRepository, name: string): Promise<string | undefined> {
  const content = await repository.read(name);
  return content === undefined ? undefined : Buffer.from(content).toString();
}

/** What backups rely on, whatever repository they are in. */
export function describeRepository(title: string, start: () => Promise<RepositoryUnderTest>): void {
  describe(`a repository in ${title}`, () => {
    let under: RepositoryUnderTest | undefined;
    beforeAll(async () => {
      under = await start();
    }, 120_000);
    afterAll(async () => {
      await under?.[Symbol.asyncDispose]();
    });
    const started = (): RepositoryUnderTest => {
      if (under === undefined) throw new Error(`${title} was not started`);
      return under;
    };
    const empty = async (): Promise<BackupRepository> => (await started().empty())();

    test('gives back what was written last, and lists it in order', async () => {
      const repository = await empty();
      await repository.write('a/c/2', bytes('two'));
      await repository.write('a/b', bytes('former'));
      await repository.write('a/b', bytes('new'));
      await repository.write('other/b', bytes('x'));
      expect(await textOf(repository, 'a/b')).toBe('new');
      expect(await repository.list('a/')).toEqual(['a/b', 'a/c/2']);
      expect(await repository.list('a/c/')).toEqual(['a/c/2']);
    });

    test('has nothing under names that were not written', async () => {
      const repository = await empty();
      await repository.write('a/b', bytes('x'));
      expect(await repository.read('a/none')).toBeUndefined();
      expect(await repository.list('none/')).toEqual([]);
    });

    test('removes files, also those that do not exist', async () => {
      const repository = await empty();
      await repository.write('a/b', bytes('x'));
      await repository.write('a/c', bytes('y'));
      await repository.remove('a/b');
      await repository.remove('a/b');
      await repository.remove('none/b');
      expect(await repository.list('a/')).toEqual(['a/c']);
      expect(await repository.read('a/b')).toBeUndefined();
    });

    test('shows at once to others what was written and removed', async () => {
      const open = await started().empty();
      const [one, other] = [open(), open()];
      for (const content of ['first', 'second', 'third']) {
        await one.write('a/b', bytes(content));
        expect(await textOf(other, 'a/b')).toBe(content);
        expect(await other.list('a/')).toEqual(['a/b']);
      }
      await one.remove('a/b');
      expect(await other.read('a/b')).toBeUndefined();
      expect(await other.list('a/')).toEqual([]);
    });

    test.each([0, 1, 65_536, 20 * 1024 * 1024])('keeps every byte of a file of %i bytes', async (length) => {
      const repository = await empty();
      const content = randomBytes(length);
      await repository.write('a/b', content);
      const back = await repository.read('a/b');
      expect(back?.length).toBe(length);
      expect(content.equals(back ?? Buffer.of())).toBe(true);
    });

    test('does not take a name for another that begins alike', async () => {
      const repository = await empty();
      for (const name of ['a/b', 'a/b2', 'ab/b', 'a.b/b', 'a-b/b']) await repository.write(name, bytes(name));
      expect(await repository.list('a/')).toEqual(['a/b', 'a/b2']);
      await repository.remove('a/b');
      expect(await textOf(repository, 'a/b2')).toBe('a/b2');
    });

    test('lists names of every allowed kind in the order of their characters', async () => {
      const repository = await empty();
      const names = ['-', '.a', '0', 'A', 'Z', '_', 'a', 'a.b', 'a_b', 'z', '20260131T120000.000Z-17'];
      for (const name of names) await repository.write(`a/${name}`, bytes('x'));
      expect(await repository.list('a/')).toEqual(names.map((name) => `a/${name}`).sort());
    });

    test('lists more files than any server does at once', async () => {
      const repository = await empty();
      const names = Array.from(
        { length: started().many ?? 2100 },
        (_, at) => `chunks/${at.toString(16).padStart(64, '0')}`,
      );
      for (let at = 0; at < names.length; at += 50) {
        await Promise.all(names.slice(at, at + 50).map((name) => repository.write(name, bytes(name))));
      }
      expect(await repository.list('chunks/')).toEqual(names);
    }, 180_000);

    test('has one of the contents, and no mixture, where several write and read at the same time', async () => {
      const open = await started().empty();
      const contents = Array.from({ length: 4 }, () => randomBytes(300_000));
      const reader = open();
      await reader.write('a/b', contents[0] ?? Buffer.of());
      const writers = contents.map(async (content) => {
        const writer = open();
        for (let times = 0; times < 5; times += 1) await writer.write('a/b', content);
      });
      const state = { isOver: false };
      const written = Promise.all(writers).finally(() => {
        state.isOver = true;
      });
      written.catch(() => undefined);
      for (let reads = 0; reads < 5 || !state.isOver; reads += 1) {
        const seen = Buffer.from((await reader.read('a/b')) ?? []);
        expect(contents.some((content) => content.equals(seen))).toBe(true);
      }
      await written;
    });

    test.each(['../a', 'a/../../b', '/etc/passwd', 'a//b', '', 'a/./b', 'a b', 'ä', 'a\\b', 'a?b'])(
      'refuses the name %j',
      async (name) => {
        const repository = await empty();
        await expect(repository.write(name, bytes('x'))).rejects.toThrow(RepositoryError);
        await expect(repository.read(name)).rejects.toThrow('is not a name of a file');
        await expect(repository.remove(name)).rejects.toThrow('is not a name of a file');
        await expect(repository.list(name)).rejects.toThrow('is not a name of a file');
      },
    );

    test('fails where its place does not exist, and does not make it', async () => {
      const repository = started().missing();
      await expect(repository.write('a/b', bytes('x'))).rejects.toThrow(RepositoryError);
      await expect(repository.list('a/')).rejects.toThrow(RepositoryError);
      await expect(repository.write('a/b', bytes('x'))).rejects.toThrow(RepositoryError);
    });
  });
}
