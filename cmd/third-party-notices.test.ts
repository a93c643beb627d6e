import { mkdtempSync, mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from '@jest/globals';
import { thirdPartyNotices } from './third-party-notices.ts';

let root: string;
beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), 'notices-'));
});
afterEach(() => {
  rmSync(root, { recursive: true });
});

function install(name: string, files: Readonly<Record<string, string>>, license?: string): string {
  mkdirSync(join(root, name));
  writeFileSync(join(root, name, 'package.json'), JSON.stringify({ name, version: '1.2.3', license }));
  for (const [file, text] of Object.entries(files)) writeFileSync(join(root, name, file), text);
  return name;
}

test('The notices contain the license texts and the NOTICE file of each package', () => {
  const one = install('one', { 'LICENSE.md': 'You may.\n', NOTICE: 'By us.\n', 'index.js': 'code' }, 'Apache-2.0');
  const other = install('other', { COPYING: 'You may, too.' }, 'MIT');
  const notices = thirdPartyNotices(root, [one, other]);
  expect(notices).toContain('contains 2 packages of others');
  expect(notices).toContain('one 1.2.3 (Apache-2.0)\nhttps://www.npmjs.com/package/one/v/1.2.3\n\nYou may.\n\nBy us.');
  expect(notices).toContain('You may, too.');
  expect(notices).not.toContain('code');
});

test('A package without the text of its license is named with a link to it', () => {
  expect(thirdPartyNotices(root, [install('bare', {}, 'ISC')])).toContain('https://spdx.org/licenses/ISC.html');
});

test('A license that is not on the list of accepted ones fails the build', () => {
  expect(() => thirdPartyNotices(root, [install('viral', {}, 'GPL-3.0-only')])).toThrow(
    'viral 1.2.3 has the license GPL-3.0-only',
  );
  expect(() => thirdPartyNotices(root, [install('silent', {})])).toThrow('silent 1.2.3 has the license unknown');
});
