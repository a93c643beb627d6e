import { mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import type { RunProgram } from '../../tools/debian-packages.ts';
import { buildBusybox } from './build-busybox.ts';

let into: string;

beforeEach(async () => {
  into = await mkdtemp(join(tmpdir(), 'busybox-'));
});

afterEach(async () => {
  await rm(into, { recursive: true });
});

/** Has all packages, and writes what apt-get and make would. */
const machine =
  (calls: string[]): RunProgram =>
  async (program, words) => {
    calls.push([program, ...words].join(' ').replaceAll(into, ''));
    if (program === 'dpkg-query') return 'install ok installed';
    if (words[0] === 'indextargets') return 'http://mirror bookworm main\nhttp://security bookworm-security main\n';
    if (program === 'sh') await writeFile(join(words[2] ?? '', 'busybox_1.35.0.orig.tar.bz2'), '');
    if (words.at(-1) === 'busybox' && program === 'make') await writeFile(join(words[1] ?? '', 'busybox'), 'ash');
    return '';
  };

const quiet = (): void => undefined;

describe('buildBusybox', () => {
  test('builds the source of the authors once, and leaves nothing else', async () => {
    const calls: string[] = [];
    const program = await buildBusybox(into, quiet, machine(calls));
    expect(await readFile(program, 'utf8')).toBe('ash');
    const steps = calls.length;
    expect(await buildBusybox(into, quiet, machine(calls))).toBe(program);
    expect(calls).toHaveLength(steps);
    expect(await readdir(into)).toEqual(['busybox']);
  });

  test('gets sources from the mirrors of the machine, and does not use the apt configuration of the machine', async () => {
    let list = '';
    const calls: string[] = [];
    const answers = machine(calls);
    await buildBusybox(into, quiet, async (program, words) => {
      if (words.includes('update')) list = await readFile(join(into, 'busybox.part', 'sources.list'), 'utf8');
      return answers(program, words);
    });
    expect(list).toBe('deb-src http://mirror bookworm main\ndeb-src http://security bookworm-security main\n');
    const apt = calls.filter((call) => /apt-get .*(update|source)/.test(call));
    expect(apt).toHaveLength(2);
    for (const call of apt) {
      expect(call).toContain('Dir::Etc::sourcelist=/busybox.part/sources.list');
      expect(call).toContain('Dir::State::lists=/busybox.part/lists');
    }
  });

  test('names the fix if it cannot be built, and leaves nothing', async () => {
    const broken: RunProgram = (program) =>
      program === 'dpkg-query' ? Promise.resolve('install ok installed') : Promise.reject(new Error('no network'));
    await expect(buildBusybox(into, quiet, broken)).rejects.toThrow(
      /busybox could not be built: .*no network.* Debian/,
    );
    expect(await readdir(into)).toEqual([]);
  });
});
