import { expect, test } from '@jest/globals';
import { tenantControlPlaneWith } from '../../testing/builders/tenant-control-plane.ts';
import { withLearned } from './scope.ts';
import type { Scope } from './scope.ts';

test('the facts of several phases about one add-on are merged, and the last phase counts for the same fact', () => {
  const scope: Scope = { tcp: tenantControlPlaneWith(), observed: {} as Scope['observed'], versions: {}, addons: {} };
  const learned = withLearned(scope, [
    { addons: { konnectivity: { renewal: 1, isInside: false } }, isRouted: false },
    undefined,
    { addons: { konnectivity: { isInside: true }, coreDNS: { isInside: true } } },
    { isRouted: true },
  ]);
  expect(learned).toMatchObject({ tcp: scope.tcp, isRouted: true });
  expect(learned.addons).toEqual({ konnectivity: { renewal: 1, isInside: true }, coreDNS: { isInside: true } });
  expect(scope.addons).toEqual({});
});
