import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { controlPlaneClaim } from '../../api/steward/v1alpha1/pool/control-plane-claim.ts';
import type { ControlPlaneClaim } from '../../api/steward/v1alpha1/pool/control-plane-claim.ts';
import { apiVersionOf } from '../../api/meta.ts';
import { demandFallsMs, demandMs, isWaiting, recentClaims, wantedReady } from './demand.ts';

const now = new Date('2030-01-01T12:00:00Z');
const ago = (ms: number): string => new Date(now.getTime() - ms).toISOString();
const claim = (uid: string, status?: ControlPlaneClaim['status']): ControlPlaneClaim => ({
  apiVersion: apiVersionOf(controlPlaneClaim),
  kind: 'ControlPlaneClaim',
  metadata: { name: uid, namespace: 'team', uid, resourceVersion: '1', generation: 1 },
  spec: { pool: 'small', deletionPolicy: 'Delete' },
  ...(status && { status }),
});
const bound = (uid: string, ms: number): ControlPlaneClaim =>
  claim(uid, { tenantControlPlane: uid, boundTime: ago(ms) });

describe('The demand for control planes', () => {
  test('is what was claimed in the last 15 minutes, also by claims that are deleted by now', () => {
    const known = [
      { uid: 'deleted', time: ago(60_000) },
      { uid: 'both', time: ago(30_000) },
      { uid: 'old', time: ago(demandMs) },
    ];
    const found = recentClaims(known, [bound('both', 30_000), bound('new', 1000), claim('waits')], now);
    expect(found.map(({ uid }) => uid)).toEqual(['deleted', 'both', 'new']);
    expect(demandFallsMs(found, now)).toBe(demandMs - 60_000);
    expect(demandFallsMs([], now)).toBeUndefined();
  });

  test('is bounded by what the pool may hold; without maxReady it is always minReady', () => {
    const recent = Array.from({ length: 5 }, (_, at) => ({ uid: String(at), time: ago(0) }));
    expect(wantedReady({ minReady: 2, maxReady: 10 }, { recent: [], waiting: 0 })).toBe(2);
    expect(wantedReady({ minReady: 2, maxReady: 10 }, { recent, waiting: 0 })).toBe(5);
    expect(wantedReady({ minReady: 2, maxReady: 10 }, { recent, waiting: 9 })).toBe(10);
    expect(wantedReady({ minReady: 2 }, { recent, waiting: 9 })).toBe(2);
    // One that waits is what a pool without a reserve is filled by.
    expect(wantedReady({ minReady: 0, maxReady: 3 }, { recent: [], waiting: 1 })).toBe(1);
  });

  test('of any claims is within the bounds, and does not fall with more claims', () => {
    fc.assert(
      fc.property(fc.nat(100), fc.nat(100), fc.nat(200), fc.nat(50), (minReady, more, count, waiting) => {
        const spec = { minReady, maxReady: minReady + more };
        const recent = Array.from({ length: count }, (_, at) => ({ uid: String(at), time: ago(0) }));
        const wanted = wantedReady(spec, { recent, waiting });
        expect(wanted).toBeGreaterThanOrEqual(minReady);
        expect(wanted).toBeLessThanOrEqual(spec.maxReady);
        expect(wantedReady(spec, { recent, waiting: waiting + 1 })).toBeGreaterThanOrEqual(wanted);
      }),
    );
  });

  test('counts a claim as waiting until it has a control plane, or is deleted', () => {
    expect(isWaiting(claim('a'))).toBe(true);
    expect(isWaiting(bound('a', 0))).toBe(false);
    const { metadata, ...rest } = claim('a');
    expect(isWaiting({ ...rest, metadata: { ...metadata, deletionTimestamp: ago(0) } })).toBe(false);
  });
});
