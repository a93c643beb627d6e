import { describe, expect, test } from '@jest/globals';
import { ensurePackages } from './debian-packages.ts';
import type { RunProgram } from './debian-packages.ts';

/** A Debian on which some packages are installed; remembers what was run. */
const debian = (installed: readonly string[], apt: () => string = () => '') => {
  const ran: string[] = [];
  const run: RunProgram = (program, words) => {
    ran.push([program, ...words].join(' '));
    if (program === 'apt-get') return Promise.resolve().then(apt);
    const name = words.at(-1) ?? '';
    if (installed.includes(name)) return Promise.resolve('install ok installed');
    return name === 'removed'
      ? Promise.resolve('deinstall ok config-files')
      : Promise.reject(new Error('no packages found'));
  };
  return { run, ran };
};

describe('ensurePackages', () => {
  test('does nothing if all are installed', async () => {
    const { run, ran } = debian(['gcc', 'nftables']);
    const told: string[] = [];
    await ensurePackages(['gcc', 'nftables'], (line) => told.push(line), run);
    expect(told).toEqual([]);
    expect(ran.every((command) => command.startsWith('dpkg-query'))).toBe(true);
  });

  test('names and installs those that are absent or of which only configuration is left', async () => {
    const { run, ran } = debian(['gcc']);
    const told: string[] = [];
    await ensurePackages(['gcc', 'socat', 'removed'], (line) => told.push(line), run);
    expect(told).toEqual(['installing the Debian packages socat removed']);
    expect(ran.filter((command) => command.startsWith('apt-get'))).toEqual([
      'apt-get update -qq',
      'apt-get install -y -qq --no-install-recommends socat removed',
    ]);
  });

  test('names the command to run if it cannot install them', async () => {
    const { run } = debian([], () => {
      throw new Error('are you root?');
    });
    await expect(ensurePackages(['socat'], () => undefined, run)).rejects.toThrow(
      'The Debian packages socat are needed and could not be installed: are you root?. Run as root: apt-get install socat',
    );
  });

  test('refuses another operating system', async () => {
    const run: RunProgram = () =>
      Promise.reject(Object.assign(new Error('spawn dpkg-query ENOENT'), { code: 'ENOENT' }));
    await expect(ensurePackages(['socat'], () => undefined, run)).rejects.toThrow('This is no Debian system');
  });
});
