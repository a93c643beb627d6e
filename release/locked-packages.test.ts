import { readFileSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, test } from '@jest/globals';

import type { LockedPackages } from './locked-packages.ts';
import { neededPackages } from './locked-packages.ts';

describe('the packages that a program needs', () => {
  test('are its dependencies and theirs, the nearest of each name, and nothing of its tools', () => {
    const packages: LockedPackages = {
      '': { dependencies: { a: '1', '@s/b': '1' } },
      'node_modules/a': { version: '1.0.0', dependencies: { c: '1' } },
      'node_modules/a/node_modules/c': { version: '1.0.0', dependencies: { d: '1' } },
      'node_modules/@s/b': { version: '1.0.0', dependencies: { c: '2', a: '1' } },
      'node_modules/c': { version: '2.0.0' },
      'node_modules/d': { version: '1.0.0' },
      'node_modules/tool': { version: '1.0.0', dependencies: { d: '1' } },
    };
    const found = neededPackages(packages).map(({ name, version }) => `${name}@${version}`);
    expect(found).toEqual(['@s/b@1.0.0', 'a@1.0.0', 'c@1.0.0', 'c@2.0.0', 'd@1.0.0']);
  });

  test('must be in the lock', () => {
    expect(() => neededPackages({ '': { dependencies: { a: '1' } } })).toThrow(
      'does not contain a, which the project needs',
    );
  });

  test('of this project are locked with their checksums', () => {
    const file = path.join(import.meta.dirname, '../package-lock.json');
    const { packages } = JSON.parse(readFileSync(file, 'utf8')) as { packages: LockedPackages };
    for (const { integrity } of neededPackages(packages)) expect(integrity).toMatch(/^sha512-/);
  });
});
