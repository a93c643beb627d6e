import { describe, expect, test } from '@jest/globals';
import { parseVersion } from '../../../kubeadm/versions.ts';
import { tenantControlPlaneWith } from '../../../testing/builders/tenant-control-plane.ts';
import type { Scope } from '../scope.ts';
import { targetVersion, unheld } from './upgrade-decision.ts';
import type { UpgradeDecision } from './upgrade-decision.ts';
import { versionFacts } from './version-facts.ts';
import type { VersionFacts } from './version-facts.ts';

const [older, newer] = [parseVersion('v1.35.4'), parseVersion('v1.36.3')];
const refusal = { field: 'spec.kubernetes.version', value: 'v1.38.0', reason: 'is too new', remedy: 'use another' };

describe('a version that is not held', () => {
  test.each<[string, VersionFacts, UpgradeDecision]>([
    ['the wanted one', { wanted: newer, installed: older, running: older }, { target: newer }],
    [
      'the running one when the wanted one is refused',
      { installed: older, running: newer, refusal },
      { target: newer },
    ],
    ['the installed one when nothing else is known', { installed: older, refusal }, { target: older }],
    ['none when the wanted one is refused and nothing runs', { wanted: newer, refusal }, {}],
  ])('is %s', (_which, versions, decision) => {
    expect(unheld(versions)).toEqual(decision);
  });
});

describe('the version that a reconcile works towards', () => {
  const tcp = tenantControlPlaneWith();
  const before: Scope = { tcp, observed: {} as Scope['observed'], versions: versionFacts({ tcp }), addons: {} };

  test('is the one that the preflight decided', () => {
    expect(targetVersion({ ...before, upgrade: { target: older } })).toBe(older);
  });

  test('is unknown to a phase that does not need the preflight', () => {
    expect(() => targetVersion(before)).toThrow('without naming the phase that learns it');
  });

  test('is refused for the reason for which the wanted one is, if there is no other', () => {
    const scope = { ...before, versions: { refusal }, upgrade: {} };
    expect(() => targetVersion(scope)).toThrow('spec.kubernetes.version "v1.38.0" is too new: use another');
  });
});
