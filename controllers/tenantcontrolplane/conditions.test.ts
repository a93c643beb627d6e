import { describe, expect, test } from '@jest/globals';
import type { Condition } from '../../api/meta.ts';
import type { Report } from '../../runtime/reconcile/phases.ts';
import { tenantControlPlaneWith } from '../../testing/builders/tenant-control-plane.ts';
import { conditions } from './conditions.ts';
import type { Scope } from './scope.ts';
import type { StateFinding } from './shared/state.ts';

const now = new Date('2030-01-01T00:00:00Z');
const parts = [
  'StoreReady',
  'EndpointReady',
  'CertificatesReady',
  'KubeconfigsReady',
  'ControlPlaneAvailable',
  'TenantConfigured',
  'AddonsReady',
];

/** A report of phases that are done, but for those whose condition is in `waiting`. */
function reportWith(...waiting: readonly string[]): Report<Scope> {
  const scope: Scope = { tcp: tenantControlPlaneWith(), observed: {} as Scope['observed'], versions: {}, addons: {} };
  const lines = parts.map((condition) => {
    const isWaiting = waiting.includes(condition);
    const outcome = isWaiting
      ? ({ is: 'waiting', reason: 'X', message: 'it waits' } as const)
      : { is: 'done' as const };
    return { phase: { name: condition, condition, run: () => Promise.resolve(outcome) }, outcome, tookMs: 0 };
  });
  return { scope, lines };
}
const ready = (report: Report<Scope>, state: StateFinding['state']): Condition | undefined =>
  conditions(report, { state, installed: 'v1.35.0' }, now).find(({ type }) => type === 'Ready');

describe('A control plane that is Upgrading', () => {
  test('is Ready while everything serves, and reports that its pods are replaced', () => {
    const message = 'pods of the new version are replacing the old ones';
    expect(ready(reportWith(), 'Upgrading')).toMatchObject({ status: 'True', reason: 'Upgrading', message });
  });

  test('is not Ready while something is missing, and names it', () => {
    expect(ready(reportWith('ControlPlaneAvailable'), 'Upgrading')).toMatchObject({
      status: 'False',
      reason: 'Upgrading',
      message: expect.stringContaining('it waits'),
    });
  });
});
