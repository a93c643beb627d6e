import { expect, test } from '@jest/globals';
import { tenantControlPlaneWith } from '../../../testing/builders/tenant-control-plane.ts';
import { isFirstSpec } from './is-first-spec.ts';

test.each([
  ['the first generation', 1, undefined, true],
  ['a later generation', 2, undefined, false],
  ['the first generation of an object that adopted data', 1, 'former', false],
])('%s may be the first spec of its tenant', (_what, generation, owner, expected) => {
  const tcp = tenantControlPlaneWith({});
  const storage = owner === undefined ? {} : { owner };
  expect(isFirstSpec({ ...tcp, metadata: { ...tcp.metadata, generation }, status: { storage } })).toBe(expected);
});
