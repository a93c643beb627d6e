import { expect, test } from '@jest/globals';
import type { StewardControlPlane } from '../../../api/controlplane/steward-control-plane.ts';
import { validateRestore, validateRestoreRemoval } from './validate-restore.ts';

const scp = { spec: { restoreFrom: { policyName: 'hourly' } } } as StewardControlPlane;

test('A backup to start from is refused where no manager restores any, on creation only', () => {
  expect(validateRestore(scp, undefined, false)).toMatchObject([
    { field: 'spec.restoreFrom', reason: expect.stringContaining('feature gate Backups') },
  ]);
  expect(validateRestore(scp, undefined, true)).toEqual([]);
  // Finalizers and endpoints are written while the gate is off, too.
  expect(validateRestore(scp, scp, false)).toEqual([]);
  expect(validateRestore({ ...scp, spec: {} } as StewardControlPlane, undefined, false)).toEqual([]);
});

test.each([
  ['no status', undefined, 1],
  ['a restore that has begun', { restore: { name: 'a-restore' } }, 1],
  ['a restore that is on record', { restore: { name: 'a-restore', completionTime: '2030-01-01T00:00:00Z' } }, 0],
  ['no restore, but a control plane that has served', { initialization: { controlPlaneInitialized: true } }, 0],
])('The field is removed with %s: %j has %d problems', (_what, status, problems) => {
  const old = { ...scp, status } as StewardControlPlane;
  const removed = { spec: {} } as StewardControlPlane;
  const found = validateRestoreRemoval(removed, old);
  expect(found).toHaveLength(problems);
  expect(found.map(({ reason }) => reason).join()).toBe(
    problems === 0 ? '' : 'cannot be removed before the backup is restored',
  );
  expect(validateRestoreRemoval(old, old)).toEqual([]);
  expect(validateRestoreRemoval(removed, undefined)).toEqual([]);
});
