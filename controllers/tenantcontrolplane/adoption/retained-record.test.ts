import { describe, expect, test } from '@jest/globals';
import { tenantControlPlaneWith } from '../../../testing/builders/tenant-control-plane.ts';
import { retainedSpec } from './retained-record.ts';

describe('The retained record', () => {
  test('does not grow with the status', () => {
    const conditions = (count: number): readonly object[] =>
      Array.from({ length: count }, (_, index) => ({
        type: `Type${index}`,
        status: 'True',
        reason: 'Reason',
        message: 'x'.repeat(1024),
        lastTransitionTime: '2030-01-01T00:00:00Z',
      }));
    const recordOf = (count: number): string => {
      const status = { conditions: conditions(count), storage: { setup: { schema: 'schema', user: 'user' } } };
      return retainedSpec(tenantControlPlaneWith({ metadata: { uid: 'uid' }, status } as never)).record;
    };
    expect(recordOf(100)).toBe(recordOf(0));
    expect(recordOf(0).length).toBeLessThan(4096);
  });
});
