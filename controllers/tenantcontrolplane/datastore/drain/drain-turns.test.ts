import { describe, expect, test } from '@jest/globals';
import type { Key } from '../../../../api/meta.ts';
import { annotations } from '../../../../api/names.ts';
import type { TenantControlPlane } from '../../../../api/steward/v1alpha1/tenant-control-plane.ts';
import { ObjectMemory } from '../../../../runtime/cache/object-memory.ts';
import { FakeClock } from '../../../../testing/fake/fake-clock.ts';
import { tenantControlPlaneWith } from '../../../../testing/builders/tenant-control-plane.ts';
import { DrainTurns } from './drain-turns.ts';

const setup = { schema: 'x', user: 'x' };
type Status = NonNullable<NonNullable<TenantControlPlane['status']>['storage']>;

const tenant = (name: string, storage: Status = {}, metadata: object = {}): TenantControlPlane =>
  tenantControlPlaneWith({
    metadata: { name, namespace: 'team', uid: name, ...metadata },
    spec: { dataStore: 'full' },
    status: { storage: { setup, dataStoreName: 'full', ...storage } },
  });

class Rig {
  readonly clock = new FakeClock();
  readonly memory = new ObjectMemory();
  readonly enqueued: Key[] = [];
  readonly turns: DrainTurns;
  tenants: readonly TenantControlPlane[];

  constructor(...tenants: readonly TenantControlPlane[]) {
    this.tenants = tenants;
    this.turns = new DrainTurns({
      ...{ clock: this.clock, memory: this.memory, defaultDataStore: '' },
      tenants: () => this.tenants,
      enqueue: (key) => this.enqueued.push(key),
    });
  }

  take(name: string, keep = 0): string {
    const found = this.tenants.find(({ metadata }) => metadata.name === name);
    return this.turns.take(found ?? tenant(name), 'full', keep);
  }
}

const going = (clock: FakeClock): Status => ({
  drain: { from: 'full', named: 'full', dataStoreName: 'empty', time: clock.now().toISOString() },
});

describe('Tenants of a DataStore that is drained', () => {
  test('leave one after the other: the next one is enqueued when one has ended', () => {
    const rig = new Rig(tenant('a'), tenant('b'), tenant('c'));
    expect(['a', 'b', 'c', 'a'].map((name) => rig.take(name))).toEqual(['go', 'wait', 'wait', 'go']);
    rig.turns.ended('a');
    expect(rig.enqueued).toEqual([{ namespace: 'team', name: 'b' }]);
    expect(['c', 'b', 'c'].map((name) => rig.take(name))).toEqual(['go', 'wait', 'go']);
  });

  test('wait for one that leaves according to its status, although this process has given no turn', () => {
    const rig = new Rig();
    rig.tenants = [tenant('a', going(rig.clock)), tenant('b')];
    expect(rig.take('b')).toBe('wait');
    rig.turns.goesOn(tenant('a'), 'full');
    rig.turns.ended('a');
    expect(rig.enqueued).toEqual([{ namespace: 'team', name: 'b' }]);
  });

  test.each([
    ['is paused', (clock: FakeClock) => tenant('a', going(clock), { annotations: { [annotations.paused]: '' } })],
    [
      'is being deleted',
      (clock: FakeClock) => tenant('a', going(clock), { deletionTimestamp: '2030-01-01T00:00:00Z' }),
    ],
    ['has failed', () => tenant('a', { drain: { from: 'full', named: 'full', message: 'failed' } })],
    ['has left', (clock: FakeClock) => tenant('a', { ...going(clock), dataStoreName: 'empty' })],
  ])('do not wait for one that %s', (_, made) => {
    const rig = new Rig();
    rig.tenants = [made(rig.clock), tenant('b')];
    expect(rig.take('b')).toBe('go');
  });

  test('wait for one that takes long for an hour at most', async () => {
    const rig = new Rig();
    rig.tenants = [tenant('a', going(rig.clock)), tenant('b')];
    await rig.clock.advance(60 * 60_000 - 1);
    expect(rig.take('b')).toBe('wait');
    await rig.clock.advance(1);
    expect(rig.take('b')).toBe('go');
  });

  test('wait a minute at most for one that had its turn and did not use it', async () => {
    const rig = new Rig(tenant('a'), tenant('b'));
    rig.take('a');
    await rig.clock.advance(59_999);
    expect(rig.take('b')).toBe('wait');
    await rig.clock.advance(1);
    expect(rig.take('b')).toBe('go');
  });

  test('stay when no more are left than are to stay', () => {
    const rig = new Rig(tenant('a'), tenant('b'));
    expect(['a', 'b'].map((name) => rig.take(name, 2))).toEqual(['stay', 'stay']);
    expect(rig.take('a', 1)).toBe('go');
  });

  test('wait while one leaves, even if they are to stay then: it may fail', () => {
    const rig = new Rig();
    rig.tenants = [tenant('a', going(rig.clock)), tenant('b')];
    expect(rig.take('b', 1)).toBe('wait');
    rig.tenants = [tenant('a', { ...going(rig.clock), dataStoreName: 'empty' }), tenant('b')];
    expect(rig.take('b', 1)).toBe('stay');
  });

  test('wait for one whose pods are already switched to its new DataStore', async () => {
    const rig = new Rig();
    const migration = {
      phase: 'Switching' as const,
      source: { dataStoreName: 'full' },
      target: { dataStoreName: 'empty' },
      startedAt: rig.clock.now().toISOString(),
    };
    rig.tenants = [tenant('a', { ...going(rig.clock), migration }), tenant('b')];
    await rig.clock.advance(5 * 60_000);
    expect(rig.take('b')).toBe('wait');
  });

  test('are woken one after the other until one of them leaves', () => {
    const rig = new Rig(tenant('a'), tenant('b'), tenant('c'));
    for (const name of ['a', 'b', 'c']) rig.take(name);
    rig.turns.ended('a');
    rig.turns.ended('b');
    expect(rig.enqueued.map(({ name }) => name)).toEqual(['b', 'c']);
    rig.turns.ended('c');
    rig.turns.ended('c');
    expect(rig.enqueued).toHaveLength(2);
  });

  test('are woken when the one before is to leave yet another DataStore', () => {
    const rig = new Rig(tenant('a'), tenant('b'));
    for (const name of ['a', 'b']) rig.take(name);
    rig.turns.take(tenant('a', { dataStoreName: 'also-full' }), 'also-full', 0);
    expect(rig.enqueued.map(({ name }) => name)).toEqual(['b']);
  });

  test('lose an unused turn after a minute, however often they request it', async () => {
    const rig = new Rig(tenant('a'), tenant('b'));
    for (let seconds = 0; seconds < 60; seconds += 20) {
      expect(rig.take('a')).toBe('go');
      await rig.clock.advance(20_000);
    }
    expect(rig.take('b')).toBe('go');
  });

  test('of another DataStore are not waited for', () => {
    const rig = new Rig(tenant('a'), tenant('b', { dataStoreName: 'also-full' }));
    expect(rig.take('a')).toBe('go');
    expect(rig.turns.take(tenant('b', { dataStoreName: 'also-full' }), 'also-full', 0)).toBe('go');
    rig.turns.ended('b');
    expect(rig.enqueued).toEqual([]);
  });
});
