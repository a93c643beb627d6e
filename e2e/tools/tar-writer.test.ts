import { execFileSync } from 'node:child_process';
import { lstat, mkdir, mkdtemp, readFile, readlink, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { tarStream } from './tar-writer.ts';
import type { TarEntry } from './tar-writer.ts';

const collect = async (entries: readonly TarEntry[]): Promise<Buffer> => {
  const chunks: Buffer[] = [];
  for await (const chunk of tarStream(entries)) chunks.push(chunk);
  return Buffer.concat(chunks);
};

let folder = '';
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'tar-writer-'));
});
afterEach(() => rm(folder, { recursive: true }));

const extract = async (entries: readonly TarEntry[]): Promise<string> => {
  const into = join(folder, 'out');
  await rm(into, { recursive: true, force: true });
  await mkdir(into);
  execFileSync('tar', ['-xpf', '-', '-C', into], { input: await collect(entries) });
  return into;
};

describe('tarStream', () => {
  test('is read back by tar: folders, texts, files, links, modes', async () => {
    await writeFile(join(folder, 'source'), 'x'.repeat(1000));
    const out = await extract([
      { kind: 'folder', path: 'tmp', mode: 0o1777 },
      { kind: 'text', path: 'etc/passwd', text: 'root:x:0:0\n', mode: 0o600 },
      { kind: 'file', path: 'bin/program', source: join(folder, 'source') },
      { kind: 'symlink', path: 'bin/sh', target: 'program' },
    ]);
    expect((await lstat(join(out, 'tmp'))).mode & 0o7777).toBe(0o1777);
    expect((await lstat(join(out, 'etc/passwd'))).mode & 0o777).toBe(0o600);
    expect((await lstat(join(out, 'bin/program'))).mode & 0o777).toBe(0o755);
    expect(await readFile(join(out, 'bin/program'), 'utf8')).toHaveLength(1000);
    expect(await readlink(join(out, 'bin/sh'))).toBe('program');
  });

  test('stores names and link targets that do not fit into the old header', async () => {
    const long = `${'deep/'.repeat(40)}name`;
    const out = await extract([
      { kind: 'text', path: long, text: 'long' },
      { kind: 'text', path: 'grüße', text: 'ß' },
      { kind: 'symlink', path: 'link', target: long },
    ]);
    expect(await readFile(join(out, 'link'), 'utf8')).toBe('long');
    expect(await readFile(join(out, 'grüße'), 'utf8')).toBe('ß');
  });

  test('stores any text under any name of any length', async () => {
    const name = fc
      .stringMatching(/^[a-zA-Z0-9_.ä-]{1,150}$/)
      .filter((text) => !/^\.{1,2}$/.test(text) && !text.startsWith('-'));
    await fc.assert(
      fc.asyncProperty(name, fc.uint8Array({ maxLength: 1200 }), async (path, bytes) => {
        const out = await extract([{ kind: 'text', path, text: bytes }]);
        expect(Buffer.compare(await readFile(join(out, path)), bytes)).toBe(0);
      }),
      { numRuns: 30 },
    );
  });

  test('writes the same bytes for the same entries, without time or owner', async () => {
    const source = join(folder, 'source');
    const entries: readonly TarEntry[] = [{ kind: 'file', path: 'a', source }];
    await writeFile(source, 'same');
    const first = await collect(entries);
    await rm(source);
    await writeFile(source, 'same');
    expect(await collect(entries)).toEqual(first);
    const listing = execFileSync('tar', ['-tvf', '-', '--numeric-owner', '--utc'], { input: first }).toString();
    expect(listing).toMatch(/^-rwxr-xr-x 0\/0\s+4 1970-01-01 00:00 a$/m);
  });

  test('refuses content of another length than announced', async () => {
    const open = async function* (): AsyncGenerator<Buffer> {
      yield await Promise.resolve(Buffer.from('four'));
    };
    await expect(collect([{ kind: 'stream', path: 'a', size: 5, open }])).rejects.toThrow(
      'a changed while it was read: 5 bytes became 4',
    );
  });
});
