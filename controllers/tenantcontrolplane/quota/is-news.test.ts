import { describe, expect, test } from '@jest/globals';
import type { Condition } from '../../../api/meta.ts';
import type { QuotaStatus } from '../../../api/steward/v1alpha1/quota-status.ts';
import { tenantControlPlaneWith } from '../../../testing/builders/tenant-control-plane.ts';
import { isNews } from './is-news.ts';

const now = new Date('2030-01-01T00:10:00Z');
const quota = { objects: 1000, warnAtPercent: 80 };
const at = (keys: number, time = now) => ({ found: { bytes: 1, keys, time } });

/** A tenant with a quota of 1000 objects, that was reconciled with this result. */
function tenant(reason: string, objects: number, over: Partial<QuotaStatus> = {}) {
  const condition: Condition = {
    ...{ type: 'WithinQuota', status: 'True', reason, message: '' },
    lastTransitionTime: '2030-01-01T00:00:00Z',
  };
  const recorded = { hard: { objects: 1000 }, used: { dataSize: '1', objects }, blocked: false };
  const status = { ...recorded, measuredTime: '2030-01-01T00:10:00Z', ...over };
  return tenantControlPlaneWith({ spec: { quota }, status: { conditions: [condition], quota: status } });
}

describe('A measurement is news', () => {
  test('when nothing was reported before', () => {
    expect(isNews(tenantControlPlaneWith({ spec: { quota } }), at(1), now)).toBe(true);
  });

  test('when a limit is near or reached, and when that is over', () => {
    expect(isNews(tenant('WithinQuota', 799), at(800), now)).toBe(true);
    expect(isNews(tenant('NearQuota', 995), at(1000), now)).toBe(true);
    expect(isNews(tenant('QuotaExceeded', 951, { blocked: true }), at(949), now)).toBe(true);
    expect(isNews(tenant('NearQuota', 801), at(799), now)).toBe(true);
  });

  test('when it differs by one percent of the limit', () => {
    expect(isNews(tenant('WithinQuota', 100), at(109), now)).toBe(false);
    expect(isNews(tenant('WithinQuota', 100), at(110), now)).toBe(true);
    expect(isNews(tenant('WithinQuota', 100), at(90), now)).toBe(true);
  });

  test('when the rate of writes differs by a tenth of the limit, and when more of it is denied', () => {
    const hard = { writesPerSecond: 100 };
    const limited = (over: Partial<QuotaStatus> = {}) => {
      const status = { hard, used: { writesPerSecond: 20 }, ...over };
      const tcp = tenant('WithinQuota', 0, status);
      return { ...tcp, spec: { ...tcp.spec, quota: { ...hard, warnAtPercent: 80 } } };
    };
    const found = { limit: 100, perSecond: 29, isEmpty: false, isOverdrawn: false, refilled: now, time: now };
    expect(isNews(limited(), { writes: { found } }, now)).toBe(false);
    expect(isNews(limited(), { writes: { found: { ...found, perSecond: 30 } } }, now)).toBe(true);
    const reached: Partial<QuotaStatus> = { blocked: true, reached: ['writesPerSecond'] };
    const denied = tenant('QuotaExceeded', 0, { hard, used: { writesPerSecond: 29 }, ...reached });
    const blocked = { ...denied, spec: { ...denied.spec, quota: { ...hard, warnAtPercent: 80 } } };
    expect(isNews(blocked, { writes: { found: { ...found, isEmpty: true } } }, now)).toBe(false);
    expect(isNews(blocked, { writes: { found: { ...found, isEmpty: true, isOverdrawn: true } } }, now)).toBe(true);
    expect(isNews(blocked, { writes: { found } }, now)).toBe(true);
  });

  test('when the recorded one is two minutes old', () => {
    const old = (measuredTime: string) => tenant('WithinQuota', 100, { measuredTime });
    expect(isNews(old('2030-01-01T00:08:01Z'), at(100), now)).toBe(false);
    expect(isNews(old('2030-01-01T00:08:00Z'), at(100), now)).toBe(true);
  });

  test('when there has been none for too long', () => {
    const old = tenant('QuotaExceeded', 1000, { blocked: true, measuredTime: '2030-01-01T00:00:00Z' });
    expect(isNews(old, { failure: 'no' }, now)).toBe(true);
  });

  test('not for a tenant without a quota, or whose quota cannot be enforced', () => {
    expect(isNews(tenantControlPlaneWith(), at(1), now)).toBe(false);
    expect(isNews(tenant('PoliciesNotServed', 1000), at(1000), now)).toBe(false);
  });
});
