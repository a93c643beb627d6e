import { expect, test } from '@jest/globals';
import { tenantControlPlaneWith } from '../../../../testing/builders/tenant-control-plane.ts';
import { stayingRecord } from './drain-record.ts';

test('A tenant that stays where a drain has migrated it keeps the record and its time, with which later failures are compared', () => {
  const drain = { from: 'full', named: 'full', dataStoreName: 'roomy', time: '2026-01-01T00:00:00Z' };
  const { spec, ...rest } = tenantControlPlaneWith();
  const tcp = { ...rest, spec: { ...spec, dataStore: 'full' }, status: { storage: { drain } } };
  expect(stayingRecord(tcp, 'roomy')).toEqual(drain);
  const { time, ...untimed } = drain;
  expect(time).toBeDefined();
  const status = { storage: { drain: untimed } };
  expect(Object.keys(stayingRecord({ ...tcp, status }, 'roomy') ?? {})).not.toContain('time');
});
