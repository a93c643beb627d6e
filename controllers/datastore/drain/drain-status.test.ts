import { describe, expect, test } from '@jest/globals';
import { storedMeta } from '../../../api/as-stored.ts';
import { annotations } from '../../../api/names.ts';
import type { DataStore } from '../../../api/steward/v1alpha1/data-store.ts';
import type { DataStoreDrain, DataStoreDrainStatus } from '../../../api/steward/v1alpha1/data-store-drain.ts';
import type { TenantControlPlane } from '../../../api/steward/v1alpha1/tenant-control-plane.ts';
import { tenantControlPlaneWith } from '../../../testing/builders/tenant-control-plane.ts';
import { drainFindings } from './drain-status.ts';
import { drainedCondition } from './drained-condition.ts';

type Storage = NonNullable<NonNullable<TenantControlPlane['status']>['storage']>;

const store = (drain?: Partial<DataStoreDrain>): DataStore => ({
  apiVersion: 'steward.butlerlabs.dev/v1alpha1',
  kind: 'DataStore',
  metadata: storedMeta({ name: 'full' }),
  spec: {
    driver: 'etcd',
    endpoints: ['etcd:2379'],
    ...(drain !== undefined && { drain: { keep: 0, previousCopies: 'Retain', ...drain } }),
  },
});

function tenant(
  name: string,
  storage: Storage,
  changes: { metadata?: object; spec?: object } = {},
): TenantControlPlane {
  return tenantControlPlaneWith({
    metadata: { name, namespace: 'team', uid: name, ...changes.metadata },
    spec: { dataStore: 'full', ...changes.spec },
    status: { storage: { setup: { schema: name, user: name }, ...storage } },
  });
}

const time = '2030-01-01T00:00:00Z';
const going = { from: 'full', named: 'full', dataStoreName: 'empty', time };
const here = (name: string, storage: Storage = {}, changes: object = {}): TenantControlPlane =>
  tenant(name, { dataStoreName: 'full', ...storage }, changes);
const gone = (name: string, storage: Storage = {}): TenantControlPlane =>
  tenant(name, { dataStoreName: 'empty', drain: going, ...storage });
const copying = {
  phase: 'Copying' as const,
  source: { dataStoreName: 'full' },
  target: { dataStoreName: 'empty' },
  startedAt: time,
};
const copy = { previous: [{ dataStoreName: 'full', since: time }] };

interface Case {
  readonly drain?: Partial<DataStoreDrain> | undefined;
  readonly tenants?: readonly TenantControlPlane[];
  readonly retained?: readonly TenantControlPlane[];
  /** Names of all users; those of `tenants` by default. */
  readonly usedBy?: readonly string[];
  readonly namespace?: string;
  readonly before?: DataStoreDrainStatus;
}

function report(given: Case) {
  const { tenants = [], retained = [], namespace = '', before } = given;
  const drained = store('drain' in given ? given.drain : {});
  const usedBy = given.usedBy ?? [...tenants, ...retained].map(({ metadata }) => metadata.name);
  const findings = drainFindings({
    store: before === undefined ? drained : { ...drained, status: { drain: before } },
    ...{ tenants: [...tenants, ...retained], retained, usedBy: usedBy.map((name) => `team/${name}`) },
    ...{ defaultDataStore: '', namespace },
  });
  const { status, reason, message } = drainedCondition(drained, findings) ?? {};
  return { status: findings?.status, condition: `${status ?? ''} ${reason ?? ''}: ${message ?? ''}` };
}

const paused = (name: string): TenantControlPlane =>
  here(name, {}, { metadata: { annotations: { [annotations.paused]: '' } } });

describe('The progress of a drain', () => {
  test('counts a tenant until its migration has ended: its credentials are revoked last', () => {
    const revoking = { ...copying, phase: 'Revoking' as const };
    expect(report({ tenants: [gone('a', { migration: revoking })] }).status).toEqual({
      ...{ remaining: 1, copies: 0 },
      migrating: { tenant: 'team/a', dataStoreName: 'empty', phase: 'Revoking' },
    });
    const succeeded = { ...copying, phase: 'Succeeded' as const };
    expect(report({ tenants: [gone('a', { migration: succeeded })] }).status).toEqual({ remaining: 0, copies: 0 });
  });

  test('is absent without one', () => {
    expect(report({ drain: undefined, tenants: [here('a')] })).toEqual({ status: undefined, condition: ' : ' });
  });

  test('names the tenant that is being migrated, and counts the others', () => {
    const tenants = [here('a', { drain: going, migration: copying }), here('b'), gone('c')];
    const { status, condition } = report({ tenants });
    expect(status).toEqual({
      remaining: 2,
      copies: 0,
      migrating: { tenant: 'team/a', dataStoreName: 'empty', phase: 'Copying' },
    });
    expect(condition).toBe('False Draining: 2 tenants are left; team/a is being migrated to DataStore empty (Copying)');
  });

  test('is complete when none is left, and names the tenants that left a copy', () => {
    const { status, condition } = report({ tenants: [gone('a', copy), gone('b')] });
    expect(status).toEqual({ remaining: 0, copies: 1 });
    expect(condition).toBe(
      `True Drained: no tenants are left; copies of the data of 1 tenant are left: the annotation ${annotations.removePreviousData} of a TenantControlPlane removes its copy`,
    );
  });

  test('is not complete before the copies are removed, if it requests that', () => {
    const drain = { previousCopies: 'Remove' as const };
    expect(report({ drain, tenants: [gone('a', copy)] }).condition).toBe(
      'False Draining: no tenants are left; copies of the data of 1 tenant are left and are being removed',
    );
    expect(report({ drain, tenants: [gone('a')] }).condition).toBe('True Drained: no tenants are left');
  });

  test('is complete when as many are left as are to stay, whatever else is left', () => {
    const two = [here('a'), here('b')];
    expect(report({ drain: { keep: 2 }, tenants: two, retained: [here('c')] }).condition).toBe(
      'True Drained: 2 tenants are left (spec.drain.keep: 2)',
    );
    expect(report({ drain: { keep: 1 }, tenants: [paused('a'), here('b')] }).condition).toContain('False Draining');
  });

  test('counts tenants of which only another process knows as left', () => {
    const { status, condition } = report({ usedBy: ['elsewhere'] });
    expect(status).toEqual({ remaining: 1, copies: 0 });
    expect(condition).toBe('False Draining: 1 tenant is left');
  });

  test('keeps what a manager of another namespace reports', () => {
    const before = {
      ...{ remaining: 9, copies: 0 },
      migrating: { tenant: 'far/x', dataStoreName: 'empty', phase: 'Copying' },
      blocked: [
        { tenant: 'far/y', reason: 'full' },
        { tenant: 'team/gone', reason: 'no longer' },
      ],
    };
    expect(report({ tenants: [paused('a')], before, namespace: 'team' }).status).toMatchObject({
      migrating: before.migrating,
      blocked: [{ tenant: 'far/y' }, { tenant: 'team/a' }],
    });
    expect(report({ tenants: [paused('a')], before }).status?.migrating).toBeUndefined();
  });

  test.each<[string, TenantControlPlane, string]>([
    [
      'for which nothing fits',
      here('a', { drain: { from: 'full', named: 'full', message: 'no other DataStore fits' } }),
      'no other DataStore fits',
    ],
    ['that are paused', paused('a'), 'it is paused'],
    [
      'that are paused on their way',
      here('a', { drain: going, migration: copying }, { metadata: { annotations: { [annotations.paused]: '' } } }),
      'it is paused',
    ],
    ['without data', tenant('a', { dataStoreName: 'full', setup: {} }), 'it has no data yet'],
    [
      'whose authors have requested another DataStore in vain',
      here('a', { migration: { ...copying, phase: 'Failed' } }, { spec: { dataStore: 'third' } }),
      'its spec.dataStore requests DataStore third',
    ],
    [
      'that only store single resources here',
      tenant(
        'a',
        { dataStoreName: 'empty' },
        { spec: { dataStore: 'empty', dataStoreOverrides: [{ resource: '/events', dataStore: 'full' }] } },
      ),
      'it stores some resource types here',
    ],
  ])('is blocked by tenants %s', (_, blocked, reason) => {
    const { status, condition } = report({ tenants: [blocked] });
    expect(status?.blocked).toEqual([{ tenant: 'team/a', reason: expect.stringContaining(reason) as unknown }]);
    expect(condition).toMatch(/^False Blocked: (1 tenant is|no tenants are) left; team\/a: /);
    // As long as others can go, it goes on.
    expect(report({ tenants: [blocked, here('b')] }).condition).toContain('False Draining');
  });

  test('is blocked by the retained data of a deleted tenant', () => {
    const { status, condition } = report({ retained: [here('a')] });
    expect(status?.blocked?.[0]?.reason).toContain('delete RetainedControlPlane team.a, which removes the data');
    expect(condition).toContain('False Blocked: no tenants are left; team/a: it was deleted');
  });

  test('lists ten tenants that are blocked, and is blocked only when all are', () => {
    const twelve = Array.from({ length: 12 }, (_, at) => paused(`t${10 + at}`));
    const { status, condition } = report({ tenants: twelve });
    expect(status?.blocked).toHaveLength(10);
    expect(condition).toContain('False Blocked: 12 tenants are left');
    expect(report({ tenants: [...twelve, here('z')] }).condition).toBe('False Draining: 13 tenants are left');
  });
});
