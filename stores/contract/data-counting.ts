import { expect, test } from '@jest/globals';
import { bytes } from './data-content.ts';
import type { DataTenant } from './tenancy-data-contract.ts';

/** How many writes of an API server are counted. */
export function testDataCounting(tenant: () => Promise<DataTenant>): void {
  test('counts every creation, change and deletion of the tenant, and none of its neighbor', async () => {
    await using subject = await tenant();
    await using neighbor = await tenant();
    const [before, others] = [await subject.writes(), await neighbor.writes()];
    const names = Array.from({ length: 20 }, (_, index) => `configmaps/default/counted-${index}`);
    for (const name of names) await subject.hand.put(name, bytes('created'));
    expect((await subject.writes()) - before).toBe(20);
    for (const name of names) await subject.hand.put(name, bytes('changed'));
    expect((await subject.writes()) - before).toBe(40);
    for (const name of names) await subject.hand.delete(name);
    const ofDeletion = subject.peculiarities?.includes('deletes with two writes') === true ? 2 : 1;
    expect((await subject.writes()) - before).toBe(40 + 20 * ofDeletion);
    // Refused, or without an effect.
    await subject.hand.delete('configmaps/default/counted-0');
    await subject.hand.get('configmaps/default/counted-1');
    expect((await subject.writes()) - before).toBe(40 + 20 * ofDeletion);
    expect((await neighbor.writes()) - others).toBe(0);
  }, 60_000);

  test('counts on after the history was forgotten', async () => {
    await using subject = await tenant();
    const before = await subject.writes();
    for (let each = 0; each < 10; each += 1) await subject.hand.put('configmaps/default/kept', bytes(String(each)));
    await subject.compact();
    await subject.hand.put('configmaps/default/kept', bytes('after'));
    const counted = (await subject.writes()) - before;
    // A compaction may write a few keys of its own.
    expect(counted).toBeGreaterThanOrEqual(11);
    expect(counted).toBeLessThanOrEqual(13);
  });
}
