import { expect, test } from '@jest/globals';
import { storedMeta } from '../../../../api/as-stored.ts';
import { tenantControlPlaneWith } from '../../../../testing/builders/tenant-control-plane.ts';
import { drainWarnings } from './drain-warnings.ts';

const moved = (dataStore: string, named = 'old') =>
  tenantControlPlaneWith({
    spec: { dataStore },
    status: { storage: { drain: { from: 'old', named, dataStoreName: 'new' } } },
  });

test('the author of a tenant that a drain has migrated is warned which DataStore to set, until that is set', () => {
  expect(drainWarnings(moved('old'))).toEqual([
    'spec.dataStore names old, but the data is in DataStore new or on its way there, because old was drained: set spec.dataStore to new',
  ]);
  expect(drainWarnings(moved('new'))).toEqual([]);
  expect(drainWarnings(moved('', ''))).toEqual([]);
  expect(drainWarnings(tenantControlPlaneWith())).toEqual([]);
});

test('the author of a tenant that names a drained DataStore is warned that its data will be migrated', () => {
  const drained = {
    metadata: { ...storedMeta({ name: 'default' }) },
    spec: { driver: 'etcd', endpoints: [], drain: { keep: 0, previousCopies: 'Retain' } },
  } as const;
  expect(drainWarnings(tenantControlPlaneWith(), [drained])).toEqual([
    'spec.dataStore names default, which is being drained: the data will be migrated to another DataStore',
  ]);
  expect(drainWarnings(tenantControlPlaneWith({ spec: { dataStore: 'other' } }), [drained])).toEqual([]);
});
