import { describe, expect, test } from '@jest/globals';
import type { TenantRestore } from '../../api/steward/v1alpha1/backup/tenant-restore.ts';
import { unfinishedRestore } from './unfinished-restore.ts';

const at = (minute: number): string => `2030-01-01T00:0${minute}:00Z`;

const begun = { backupTime: at(0) };
const done = { backupTime: at(0), keys: 7 };

/** One that ended in this minute. The later it ended, the earlier it was created. */
function restore(
  minute: number,
  phase: 'Failed' | 'Completed' | 'Running',
  process: NonNullable<TenantRestore['status']>['process'] = begun,
): TenantRestore {
  const stated = (type: string, ofPhase: string) => {
    const status = phase === ofPhase ? ('True' as const) : ('False' as const);
    return { type, status, reason: type, message: '', lastTransitionTime: at(minute) };
  };
  return {
    apiVersion: 'steward.butlerlabs.dev/v1alpha1',
    kind: 'TenantRestore',
    metadata: {
      ...{ namespace: 'a', name: `r${minute}`, uid: `${minute}`, resourceVersion: '1', generation: 1 },
      creationTimestamp: at(9 - minute),
    },
    spec: { tenantControlPlaneName: 'shop', type: 'InPlace', source: { policyName: 'hourly' }, sleep: true },
    status: { phase, process, conditions: [stated('Complete', 'Completed'), stated('Failed', 'Failed')] },
  };
}

const found = (...restores: readonly TenantRestore[]): string | undefined =>
  unfinishedRestore(restores, at(1))?.metadata.name;

describe('A restore has left the data unfinished', () => {
  test('if it failed after it had begun to write', () => {
    expect(found(restore(2, 'Failed'))).toBe('r2');
  });

  test('if it failed after another one was complete, in whatever order they are listed', () => {
    expect(found(restore(3, 'Failed'), restore(2, 'Completed'))).toBe('r3');
  });

  test('and a later one that failed before it wrote changes nothing', () => {
    expect(found(restore(2, 'Failed'), restore(3, 'Failed', {}))).toBe('r2');
  });
});

describe('No restore has left the data unfinished', () => {
  test('if none has failed', () => {
    expect(found(restore(2, 'Completed'), restore(3, 'Running'))).toBeUndefined();
  });

  test('if it failed before it wrote', () => {
    expect(found(restore(2, 'Failed', {}))).toBeUndefined();
  });

  test('if it failed when everything was written and compared', () => {
    expect(found(restore(2, 'Failed', done))).toBeUndefined();
  });

  test('if a later one is complete', () => {
    expect(found(restore(3, 'Completed'), restore(2, 'Failed'))).toBeUndefined();
  });

  test('if the control plane was created after it had failed', () => {
    expect(found(restore(0, 'Failed'))).toBeUndefined();
  });
});
