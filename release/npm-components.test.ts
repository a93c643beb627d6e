import { describe, expect, test } from '@jest/globals';

import type { LockedPackages } from './npm-components.ts';
import { npmComponents } from './npm-components.ts';

const locked: LockedPackages = {
  'node_modules/b': { version: '1.0.0', integrity: 'sha512-qg==', license: 'MIT' },
  'node_modules/@s/a': { version: '2.0.0' },
  'node_modules/@s/a/node_modules/b': { version: '1.0.0' },
  'node_modules/other': { name: 'real', version: '3.0.0' },
  'node_modules/tool': { version: '4.0.0' },
};

describe('the packages of a bundle', () => {
  test('are listed once and by their own names, and no other package is', () => {
    const folders = ['node_modules/other', 'node_modules/@s/a/node_modules/b', 'node_modules/b', 'node_modules/@s/a'];
    const found = npmComponents(folders, locked).map(({ purl }) => purl);
    expect(found).toEqual(['pkg:npm/%40s/a@2.0.0', 'pkg:npm/b@1.0.0', 'pkg:npm/real@3.0.0']);
  });

  test('have the checksum and the license of the lock', () => {
    expect(npmComponents(['node_modules/b'], locked)).toMatchObject([
      { name: 'b', version: '1.0.0', hashes: [{ alg: 'SHA-512', content: 'aa' }], licenses: [{ expression: 'MIT' }] },
    ]);
  });

  test('must be in the lock', () => {
    expect(() => npmComponents(['node_modules/c'], locked)).toThrow('does not contain node_modules/c');
  });
});
