import { describe, expect, test } from '@jest/globals';
import type { MigrationPhase } from './migration-status.ts';
import type { TenantControlPlane } from './tenant-control-plane.ts';
import { tenantControlPlaneWith } from '../../../testing/builders/tenant-control-plane.ts';
import { mayNotRun, mayNotServe, onlyServedFrom } from './stopped-servers.ts';

function tenant(phase?: MigrationPhase, stoppedAt?: string): TenantControlPlane {
  const [source, target] = [{ dataStoreName: 'here' }, { dataStoreName: 'there' }];
  const startedAt = '2030-01-01T00:00:00Z';
  const migration = phase && { phase, source, target, startedAt, ...(stoppedAt !== undefined && { stoppedAt }) };
  return tenantControlPlaneWith({ status: { storage: { migration } } });
}

const told = (tcp: TenantControlPlane): readonly unknown[] => [mayNotRun(tcp), mayNotServe(tcp), onlyServedFrom(tcp)];

describe('API servers that a migration has stopped', () => {
  test.each<[MigrationPhase, readonly unknown[]]>([
    ['StoppingWrites', [true, true, 'here']],
    ['Finishing', [true, true, 'here']],
    // They start, but what they accept could still be lost.
    ['Switching', [false, true, 'here']],
    // It is final.
    ['ResumingWrites', [false, false, undefined]],
    ['Revoking', [false, false, undefined]],
    // They start again on the source.
    ['Following', [false, false, 'here']],
    ['RollingBack', [false, false, 'here']],
    ['Succeeded', [false, false, undefined]],
    ['Failed', [false, false, undefined]],
    ['Cancelled', [false, false, undefined]],
  ])('may run, serve, and be reached as far as it has come: %s', (phase, expected) => {
    expect(told(tenant(phase, '2030-01-01T00:00:05Z'))).toEqual(expected);
  });

  test.each<MigrationPhase>(['StoppingWrites', 'Finishing', 'Switching', 'RollingBack'])(
    'are those of tenants alone which cannot deny writes: %s',
    (phase) => {
      expect(told(tenant(phase))).toEqual([false, false, undefined]);
    },
  );

  test('are none without a migration', () => {
    expect(told(tenant())).toEqual([false, false, undefined]);
  });
});
