import { expect, test } from '@jest/globals';
import { setTimeout as delay } from 'node:timers/promises';
import type { DataTenant } from './tenancy-data-contract.ts';
import { allEntries, bytes, contentOf, manyPuts, put } from './data-content.ts';

/** Waits until it is so; a real server needs a moment. */
async function until(what: string, isSo: () => Promise<boolean>, withinMs: number): Promise<void> {
  const end = performance.now() + withinMs;
  while (!(await isSo())) {
    if (performance.now() > end) throw new Error(`${what}: not after ${withinMs} ms`);
    await delay(100);
  }
}

/** Writing with administrative rights, times to live, and revisions. */
export function testDataWriting(title: string, tenant: () => Promise<DataTenant>): void {
  test('writes changes that the tenant then sees, and is idempotent', async () => {
    await using subject = await tenant();
    const { data, hand } = subject;
    await hand.put('pods/a', bytes('old'));
    await hand.put('pods/b', bytes('old'));
    await data.beginWrites();
    const changes = [put('pods/a', 'new'), { is: 'deleted', key: 'pods/b' }, put('pods/c', 'new')] as const;
    for (let round = 0; round < 3; round += 1) {
      await data.write([...changes, { is: 'deleted', key: 'pods/never' }]);
      expect(await contentOf(data)).toEqual(
        new Map([
          ['pods/a', 'new'],
          ['pods/c', 'new'],
        ]),
      );
    }
    expect(await hand.get('pods/a')).toEqual(Buffer.from('new'));
    expect(await hand.get('pods/b')).toBeUndefined();
    await hand.put('pods/a', bytes('by the tenant'));
    await hand.delete('pods/c');
    expect(await contentOf(data)).toEqual(new Map([['pods/a', 'by the tenant']]));
  });

  test('accepts many changes at once, of which the last one of a key wins', async () => {
    await using subject = await tenant();
    const { data } = subject;
    await data.beginWrites();
    await data.write([]);
    await data.write([
      ...manyPuts(1500, 'pods/pod-', 'old'),
      { is: 'put', entry: { key: 'configmaps/large', value: Buffer.alloc(1 << 20, 1) } },
      ...manyPuts(700, 'pods/pod-', 'new'),
      { is: 'deleted', key: 'pods/pod-000000' },
      put('pods/pod-000001', 'last'),
    ]);
    const content = await contentOf(data);
    expect(content.size).toBe(1500);
    expect(content.get('pods/pod-000001')).toBe('last');
    expect(content.get('pods/pod-000699')).toBe('new 699');
    expect(content.get('pods/pod-000700')).toBe('old 700');
  }, 60_000);

  test('preserves times to live: reads them, sets them, and keys expire', async () => {
    await using subject = await tenant();
    const { data, hand } = subject;
    await hand.put('events/by-tenant', bytes('x'), 3600);
    await data.beginWrites();
    await data.write([put('events/long', 'x', 1_800_000), put('events/short', 'x', 2000), put('pods/a', 'x')]);
    const entries = await allEntries(data, await data.revision());
    const ttl = (key: string): number => entries.find((entry) => entry.key === key)?.ttlMs ?? Number.NaN;
    expect(ttl('events/by-tenant')).toBeGreaterThan(2_500_000);
    expect(ttl('events/by-tenant')).toBeLessThanOrEqual(3_602_000);
    expect(ttl('events/long')).toBeGreaterThan(1_700_000);
    expect(ttl('events/long')).toBeLessThanOrEqual(1_802_000);
    expect(ttl('pods/a')).toBeNaN();
    const gone = async (): Promise<boolean> => (await hand.get('events/short')) === undefined;
    if (subject.peculiarities?.includes('keeps what others wrote')) {
      await hand.put('events/own', bytes('x'), 1);
      const ownGone = async (): Promise<boolean> => (await hand.get('events/own')) === undefined;
      await until('events/own is gone', ownGone, 60_000);
      await delay(2000);
      expect(await gone()).toBe(false);
    } else await until('events/short is gone', gone, 60_000);
    expect(await hand.get('events/long')).toBeDefined();
    // A key that is written again without a time to live does not expire.
    await data.write([put('events/long', 'x')]);
    const [kept] = (await allEntries(data, await data.revision())).filter(({ key }) => key === 'events/long');
    expect(kept?.ttlMs).toBeUndefined();
  }, 120_000);

  test('raises the revision, so that every later write of the tenant is above it', async () => {
    await using subject = await tenant();
    const { data, hand } = subject;
    await hand.put('pods/a', bytes('x'));
    const before = await data.revision();
    const wanted = before + 5000n;
    const told: bigint[] = [];
    const begun = performance.now();
    await data.raise(wanted, (reached) => told.push(reached));
    const ms = performance.now() - begun;
    process.stderr.write(`raise ${title}: 5000 revisions in ${Math.round(ms)} ms, ${Math.round(5e6 / ms)}/s\n`);
    expect(told.at(-1) ?? wanted).toBeGreaterThanOrEqual(wanted);
    expect(await data.revision()).toBeGreaterThanOrEqual(wanted);
    expect(await hand.put('pods/b', bytes('x'))).toBeGreaterThan(wanted);
    expect(await hand.put('pods/a', bytes('y'))).toBeGreaterThan(wanted);
    expect(await hand.get('pods/a')).toEqual(Buffer.from('y'));
    const reached = await data.revision();
    await data.raise(before);
    expect(await data.revision()).toBeLessThanOrEqual(reached + 2n);
    expect((await contentOf(data)).size).toBe(2);
  }, 120_000);
}
