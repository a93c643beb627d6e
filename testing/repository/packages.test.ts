import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from '@jest/globals';

interface LockedPackage {
  readonly integrity?: string;
  readonly dev?: boolean;
}

const read = (file: string): string => readFileSync(join(import.meta.dirname, '../..', file), 'utf8');
const { packages } = JSON.parse(read('package-lock.json')) as {
  readonly packages: Readonly<Record<string, LockedPackage>>;
};

describe('The packages of npm', () => {
  test('that the manager is made of have a checksum each', () => {
    const shipped = Object.entries(packages).filter(([folder, { dev = false }]) => folder !== '' && !dev);
    expect(shipped.length).toBeGreaterThan(10);
    const unchecked = shipped.filter(([, { integrity = '' }]) => !integrity.startsWith('sha512-'));
    expect(unchecked.map(([folder]) => folder)).toEqual([]);
  });

  test('run no script of theirs when they are installed', () => {
    expect(read('.npmrc').split('\n')).toContain('ignore-scripts=true');
  });
});
