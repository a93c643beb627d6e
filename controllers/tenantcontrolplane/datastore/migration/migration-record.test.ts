import { describe, expect, test } from '@jest/globals';
import type { MigrationStatus } from '../../../../api/steward/v1alpha1/migration-status.ts';
import { tenantControlPlaneWith } from '../../../../testing/builders/tenant-control-plane.ts';
import { beginMigration, howFar, isFrozen, msBetween, pauseText, thawed, way } from './migration-record.ts';

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

  test('says how long the API servers were stopped where writes cannot be denied', () => {
    const stops = { ...migration, stopsServers: true };
    expect(pauseText(stops)).toBe('the API servers were never stopped');
    expect(pauseText({ ...stops, pauseMs: 19_400 })).toBe('the API servers were stopped for 19.4 s');
    expect(pauseText({ ...stops, pauseMs: 19_400, rolloutMs: 5_100 })).toBe(
      'the API servers were stopped for 19.4 s, 5.1 s of it for the start on the target',
    );
  });

  test('counts a stop from its beginning, until the API servers serve again', () => {
    const stopped = { ...migration, stoppedAt: '2030-01-01T00:00:10.000Z', replicas: 3 };
    expect(isFrozen(stopped)).toBe(true);
    const gone = { ...stopped, writesStoppedAt: '2030-01-01T00:00:22.000Z' };
    const served = thawed(gone, new Date('2030-01-01T00:00:30.000Z'));
    expect(served).toEqual({ ...migration, pauseMs: 20_000 });
    expect([isFrozen(gone), isFrozen(served), isFrozen(migration)]).toEqual([true, false, false]);
    expect(isFrozen({ ...gone, phase: 'Failed' })).toBe(false);
  });

  test('counts no negative time when the clock is set back meanwhile', () => {
    const since = '2030-01-01T00:30:00.000Z';
    const back = new Date('2030-01-01T00:00:01.000Z');
    expect(thawed({ ...migration, pauseMs: 700, writesStoppedAt: since }, back).pauseMs).toBe(700);
    expect(msBetween(since, back.toISOString())).toBe(0);
    expect(msBetween(back.toISOString(), '2030-01-01T00:00:03.500Z')).toBe(2_500);
    expect(pauseText({ ...migration, pauseMs: 700, rolloutMs: 900 })).toBe(
      'writes were denied for 0.7 s, 0.0 s of it outside the rollout',
    );
  });

  test('adds up interrupted pauses', () => {
    const once = thawed(
      { ...migration, writesStoppedAt: '2030-01-01T00:00:10.000Z' },
      new Date('2030-01-01T00:00:12.500Z'),
    );
    expect(once).toMatchObject({ pauseMs: 2_500 });
    expect(once).not.toHaveProperty('writesStoppedAt');
    const twice = thawed(
      { ...once, writesStoppedAt: '2030-01-01T00:01:00.000Z' },
      new Date('2030-01-01T00:01:01.000Z'),
    );
    expect(twice.pauseMs).toBe(3_500);
    expect(thawed(twice, new Date()).pauseMs).toBe(3_500);
  });
});

describe('A migration that begins', () => {
  const storage = { dataStoreName: 'default', driver: 'etcd', setup: { schema: 'a', user: 'a' } };
  const begun = (wanted: string, installed?: string): MigrationStatus | undefined => {
    const version = { status: 'Ready', ...(installed !== undefined && { version: installed }) } as const;
    const status = { storage, kubernetesResources: { version } };
    return beginMigration(
      tenantControlPlaneWith({ spec: { dataStore: 'other' }, kubernetes: { version: wanted }, status }),
      new Date(0),
    );
  };

  test.each([
    ['v1.29.15', 'v1.29.15', true],
    ['v1.30.0', 'v1.29.15', true],
    ['v1.29.15', undefined, true],
    ['v1.30.0', 'v1.30.0', undefined],
    ['v1.36.3', undefined, undefined],
  ])(
    'stops the API servers if those that are installed cannot deny writes: %s, installed %s',
    (wanted, installed, stops) => {
      expect(begun(wanted, installed)?.stopsServers).toBe(stops);
    },
  );
});
