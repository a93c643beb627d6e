import { describe, expect, test } from '@jest/globals';
import type { MigrationStatus } from '../../../../api/steward/v1alpha1/migration-status.ts';
import { howFar, pauseText, thawed, way } from './migration-record.ts';

const migration: MigrationStatus = {
  phase: 'Copying',
  startedAt: '2030-01-01T00:00:00.000Z',
  source: { dataStoreName: 'a' },
  target: { dataStoreName: 'b' },
};

describe('The description of a migration', () => {
  test('names both datastores, and its progress as soon as that is known', () => {
    expect(way(migration)).toBe('from DataStore a to b');
    expect(howFar(migration)).toBe('');
    expect(howFar({ ...migration, keys: 10, bytes: 5_242_880, rate: 3, remaining: 4 })).toBe(
      '10 keys (5.0 MiB) copied, 4 left, 3 keys/s',
    );
    expect(howFar({ ...migration, keys: 10, bytes: 0, rate: 0 })).toBe('10 keys (0.0 MiB) copied');
  });

  test('separates the pause from the rollout', () => {
    expect(pauseText(migration)).toBe('writes were never denied');
    expect(pauseText({ ...migration, pauseMs: 9_400, rolloutMs: 8_100 })).toBe(
      'writes were denied for 9.4 s, 1.3 s of it outside the rollout',
    );
  });

  test('adds up interrupted pauses', () => {
    const once = thawed({ ...migration, frozenAt: '2030-01-01T00:00:10.000Z' }, new Date('2030-01-01T00:00:12.500Z'));
    expect(once).toMatchObject({ pauseMs: 2_500 });
    expect(once).not.toHaveProperty('frozenAt');
    const twice = thawed({ ...once, frozenAt: '2030-01-01T00:01:00.000Z' }, new Date('2030-01-01T00:01:01.000Z'));
    expect(twice.pauseMs).toBe(3_500);
    expect(thawed(twice, new Date()).pauseMs).toBe(3_500);
  });
});
