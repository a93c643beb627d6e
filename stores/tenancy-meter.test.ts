import { expect, test } from '@jest/globals';

import { ObjectMemory } from '../runtime/cache/object-memory.ts';
import { silent } from '../runtime/observe/logger.ts';
import { FakeClock } from '../testing/fake/fake-clock.ts';
import type { TenancySize } from './driver.ts';
import { TenancyMeter } from './tenancy-meter.ts';
import type { MeteredTenant } from './tenancy-meter.ts';

const hour = 3_600_000;

function setUp(...tenants: readonly MeteredTenant[]) {
  const clock = new FakeClock();
  const memory = new ObjectMemory();
  const list = [...tenants];
  const meter = new TenancyMeter({ clock, log: silent, memory, intervalMs: hour, tenants: () => list });
  return { clock, memory, meter, list };
}

function sizeOf(bytes: number): TenancySize;
function sizeOf(bytes: number | undefined): TenancySize | undefined;
function sizeOf(bytes: number | undefined): TenancySize | undefined {
  return bytes === undefined ? undefined : { bytes, content: { keys: 1, bytes } };
}

/** A tenant whose size is what the test says, with the number of its measurements. */
function tenantOf(uid: string, bytes: number) {
  const tenant = {
    uid,
    bytes: bytes as number | undefined | Error,
    count: 0,
    measure: (): Promise<TenancySize | undefined> => {
      tenant.count += 1;
      return tenant.bytes instanceof Error ? Promise.reject(tenant.bytes) : Promise.resolve(sizeOf(tenant.bytes));
    },
  };
  return tenant;
}

test('a tenant is measured at once, and then at intervals', async () => {
  const shop = tenantOf('shop', 100);
  const { clock, meter } = setUp(shop);
  meter.start();
  await clock.advance(0);
  expect(meter.size('shop')?.bytes).toBe(100);
  shop.bytes = 200;
  await clock.advance(hour - 60_000);
  expect([shop.count, meter.size('shop')?.bytes]).toEqual([1, 100]);
  await clock.advance(90_000);
  expect([shop.count, meter.size('shop')?.bytes]).toEqual([2, 200]);
});

test('of several tenants that are due, the one that has waited longest is measured first', async () => {
  const order: string[] = [];
  const tenant = (uid: string, seconds: number): MeteredTenant => ({
    uid,
    intervalMs: () => seconds * 1000,
    measure: () => {
      order.push(uid);
      return Promise.resolve(sizeOf(1));
    },
  });
  const { clock, meter, list } = setUp(tenant('since 0', 60));
  meter.start();
  await clock.advance(0);
  list.unshift(tenant('since 30', 30));
  await clock.advance(60_000);
  expect(order).toEqual(['since 0', 'since 30', 'since 0', 'since 30']);
});

test('a new tenant is measured within half a minute', async () => {
  const { clock, meter, list } = setUp();
  meter.start();
  await clock.advance(0);
  list.push(tenantOf('new', 5));
  await clock.advance(30_000);
  expect(meter.size('new')?.bytes).toBe(5);
});

test('two tenants are measured at a time, and one that fails does not prevent others from being measured', async () => {
  let running = 0;
  let most = 0;
  const slow = (uid: string): MeteredTenant => ({
    uid,
    measure: async () => {
      running += 1;
      most = Math.max(most, running);
      await new Promise<void>((resolve) => clock.after(1000, resolve));
      running -= 1;
      if (uid === '3') throw new Error('the datastore does not answer');
      return sizeOf(Number(uid));
    },
  });
  const { clock, meter, list } = setUp();
  list.push(...Array.from({ length: 9 }, (_, index) => slow(String(index))));
  meter.start();
  for (let second = 0; second < 5; second += 1) await clock.advance(1000);
  expect(most).toBe(2);
  expect(list.map(({ uid }) => meter.size(uid)?.bytes)).toEqual([0, 1, 2, undefined, 4, 5, 6, 7, 8]);
});

test('the last size is reported for three intervals while no newer one is known', async () => {
  const shop = tenantOf('shop', 100);
  const { clock, meter } = setUp(shop);
  meter.start();
  await clock.advance(0);
  shop.bytes = new Error('the datastore does not answer');
  await clock.advance(3 * hour);
  expect(meter.size('shop')?.bytes).toBe(100);
  await clock.advance(1);
  expect(meter.size('shop')?.bytes).toBeUndefined();
});

test('a tenancy that is gone has no size, and neither has a deleted tenant', async () => {
  const [shop, site] = [tenantOf('shop', 100), tenantOf('site', 7)];
  const { clock, meter, memory } = setUp(shop, site);
  meter.start();
  await clock.advance(0);
  memory.drop('site');
  expect(meter.size('site')?.bytes).toBeUndefined();
  shop.bytes = undefined;
  await clock.advance(hour);
  expect(meter.size('shop')?.bytes).toBeUndefined();
});

test('a measurement is aborted after five minutes, and all are when the meter is closed', async () => {
  const reasons: unknown[] = [];
  const endless: MeteredTenant = {
    uid: 'endless',
    measure: (signal) =>
      new Promise((_resolve, reject) => {
        signal.addEventListener('abort', () => {
          reasons.push(String(signal.reason));
          reject(signal.reason as Error);
        });
      }),
  };
  const { clock, meter } = setUp(endless);
  meter.start();
  await clock.advance(300_000);
  expect(reasons).toEqual(['Error: it took more than 300 seconds']);
  await clock.advance(hour - 300_000);
  meter.close();
  await clock.advance(10 * hour);
  expect(reasons.slice(1)).toEqual(['Error: tenants are no longer measured']);
});

test('tenants are measured after they could not be listed', async () => {
  const clock = new FakeClock();
  let fails = true;
  const tenants = (): readonly MeteredTenant[] => {
    if (fails) throw new Error('there is no list');
    return [tenantOf('shop', 100)];
  };
  const meter = new TenancyMeter({ clock, log: silent, memory: new ObjectMemory(), intervalMs: hour, tenants });
  meter.start();
  await clock.advance(0);
  fails = false;
  await clock.advance(30_000);
  expect(meter.size('shop')?.bytes).toBe(100);
});

test('a tenant may be measured at intervals of its own, which follow from the last measurement', async () => {
  const shop = tenantOf('shop', 100);
  const seen: unknown[] = [];
  const own: MeteredTenant = {
    ...shop,
    measure: shop.measure,
    intervalMs: ({ found }) => (found?.size.bytes === 100 ? 60_000 : 300_000),
    measured: (last) => seen.push(last.found?.size.bytes ?? last.failure),
  };
  const { clock, meter } = setUp(own);
  meter.start();
  await clock.advance(0);
  shop.bytes = 200;
  await clock.advance(60_000);
  await clock.advance(270_000);
  expect([shop.count, seen]).toEqual([2, [100, 200]]);
  await clock.advance(60_000);
  expect([shop.count, seen]).toEqual([3, [100, 200, 200]]);
  expect(meter.last('shop')).toMatchObject({ found: { size: { bytes: 200 } } });
});

test('a tenant is measured again while another one takes long', async () => {
  const fast = tenantOf('fast', 1);
  const { clock, meter } = setUp(fast, { uid: 'slow', measure: () => new Promise(() => undefined) });
  meter.start();
  await clock.advance(2 * hour + 60_000);
  expect(fast.count).toBe(3);
});

test('why a tenant could not be measured is known, with what was found before', async () => {
  const shop = tenantOf('shop', 100);
  const { clock, meter } = setUp(shop);
  expect(meter.last('shop')).toBeUndefined();
  meter.start();
  await clock.advance(0);
  shop.bytes = new Error('the datastore does not answer');
  await clock.advance(hour);
  expect(meter.last('shop')).toMatchObject({
    found: { size: { bytes: 100 } },
    failure: 'the datastore does not answer',
  });
});
