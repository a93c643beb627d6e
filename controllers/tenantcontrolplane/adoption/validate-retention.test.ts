import { expect, test } from '@jest/globals';
import { annotations } from '../../../api/names.ts';
import { tenantControlPlaneWith } from '../../../testing/builders/tenant-control-plane.ts';
import { validateRetention } from './validate-retention.ts';

const errors = (marks: Readonly<Record<string, string>>): readonly unknown[] =>
  validateRetention(tenantControlPlaneWith({ metadata: { annotations: marks } }));

test.each(['Retain', 'Delete'])('the deletion policy %s is accepted', (policy) => {
  expect(errors({ [annotations.deletionPolicy]: policy })).toEqual([]);
});

test('a TenantControlPlane needs no deletion policy', () => {
  expect(errors({})).toEqual([]);
});

test.each(['retain', 'Keep', ''])(
  'the deletion policy "%s" is refused, and the error names those that exist',
  (policy) => {
    expect(errors({ [annotations.deletionPolicy]: policy })).toMatchObject([
      { field: `metadata.annotations[${annotations.deletionPolicy}]`, value: policy, remedy: 'use Retain or Delete' },
    ]);
  },
);
