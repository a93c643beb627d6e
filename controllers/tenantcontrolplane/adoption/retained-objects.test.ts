import { expect, test } from '@jest/globals';
import { tenantControlPlaneWith } from '../../../testing/builders/tenant-control-plane.ts';
import { passedOn } from './retained-objects.ts';

test('the keys of encrypted data are retained with the data', () => {
  const names = passedOn(tenantControlPlaneWith(), []).map(({ kind, name }) => `${kind.kind} ${name}`);
  expect(names).toContain('Secret tenant-encryption');
});
