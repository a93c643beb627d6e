import { describe, expect, test } from '@jest/globals';
import { storedMeta } from '../../api/as-stored.ts';
import type { Key, KindRef, NamespacedResource } from '../../api/meta.ts';
import { annotations } from '../../api/names.ts';
import { backupPolicy } from '../../api/steward/v1alpha1/backup/backup-policy.ts';
import type { BackupPolicy } from '../../api/steward/v1alpha1/backup/backup-policy.ts';
import { tenantRestore } from '../../api/steward/v1alpha1/backup/tenant-restore.ts';
import type { TenantRestore } from '../../api/steward/v1alpha1/backup/tenant-restore.ts';
import { tenantControlPlane } from '../../api/steward/v1alpha1/tenant-control-plane.ts';
import type { TenantControlPlane } from '../../api/steward/v1alpha1/tenant-control-plane.ts';
import { backupPolicyWith } from '../../testing/builders/backup-policy.ts';
import { tenantControlPlaneWith } from '../../testing/builders/tenant-control-plane.ts';
import { policyWatches } from './watches.ts';

const policy = (name: string, status: BackupPolicy['status'] = {}): BackupPolicy => backupPolicyWith(name, { status });

const restore = (phase: 'Running' | 'Completed', tenant: string, owner?: string): TenantRestore => ({
  apiVersion: 'steward.butlerlabs.dev/v1alpha1',
  kind: 'TenantRestore',
  metadata: {
    ...storedMeta({ namespace: 'tenants', name: 'a', uid: 'a' }),
    ...(owner !== undefined && {
      ownerReferences: [
        { apiVersion: 'steward.butlerlabs.dev/v1alpha1', kind: 'BackupPolicy', name: owner, uid: owner },
      ],
    }),
  },
  spec: { tenantControlPlaneName: tenant, type: 'InPlace', source: { policyName: 'hourly' }, sleep: false },
  status: { phase },
});

const policies = [policy('hourly'), policy('daily')];

/** The policies that are reconciled because an object of a kind changed. */
function woken(
  kind: KindRef,
  old: NamespacedResource | undefined,
  now: NamespacedResource | undefined,
): readonly Key[] {
  return policyWatches({ policies: () => policies, processes: { namespace: 'steward-system' } })
    .filter((watch) => watch.kind === kind)
    .flatMap((watch) => watch.keys(old, now));
}

const key = (name: string): Key => ({ namespace: 'tenants', name });

describe('A BackupPolicy is reconciled', () => {
  test('when its process reports, and not for its own status', () => {
    const reported = policy('hourly', { process: { changesUntil: '2030-01-01T00:00:00Z' } });
    expect(woken(backupPolicy, policy('hourly'), reported)).toEqual([key('hourly')]);
    const stated = policy('hourly', { ...reported.status, backups: 1 });
    expect(woken(backupPolicy, reported, stated)).toEqual([]);
  });

  test('when its control plane no longer waits for a restore', () => {
    const tenant = (marks: Readonly<Record<string, string>>): TenantControlPlane =>
      tenantControlPlaneWith({ metadata: { namespace: 'tenants', name: 'shop', annotations: marks } });
    const waits = tenant({ [annotations.awaitsRestore]: 'a' });
    expect(woken(tenantControlPlane, waits, tenant({}))).toEqual([key('hourly'), key('daily')]);
    expect(woken(tenantControlPlane, waits, waits)).toEqual([]);
  });

  test('when another one of its control plane is gone', () => {
    expect(woken(backupPolicy, policy('weekly'), undefined)).toEqual([key('hourly'), key('daily')]);
  });

  test('when a restore of its control plane, or of its rehearsal, changes its phase', () => {
    const of = (tenant: string, owner?: string): readonly Key[] =>
      woken(tenantRestore, restore('Running', tenant, owner), restore('Completed', tenant, owner));
    expect(of('shop')).toEqual([key('hourly'), key('daily')]);
    expect(of('hourly-rehearsal', 'hourly')).toEqual([key('hourly')]);
    expect(woken(tenantRestore, restore('Running', 'shop'), restore('Running', 'shop'))).toEqual([]);
  });
});
