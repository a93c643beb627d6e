import { expect, test } from '@jest/globals';
import { StoreError } from '../store-error.ts';
import type { DataTenant } from './tenancy-data-contract.ts';
import { allChanges, bytes, contentOf, put } from './data-content.ts';

/** Names that API servers let through somewhere: RBAC takes every character but `/` and `%`. */
const odd = [
  ...['a b', ' a', 'a ', 'A', 'a', 'a.b', 'a-b', 'a_b', 'a%b', "it's", 'say "a"', 'back\\slash', 'semi;colon', 'a:b'],
  ...['a*', 'a>', 'a?b', 'a#b', 'a$b', 'a&b', 'a=b', 'a+b', 'a,b', 'a~b', 'a|b', 'a`b', '(a)', '[a]', '{a}', '<a>'],
  ...[
    'ä',
    'a\u0308',
    '日本',
    '💥',
    'a\u200bb',
    'a\tb',
    'a\nb',
    'a\u007fb',
    'x'.repeat(253),
    `${'y'.repeat(60)}.${'z'.repeat(60)}`,
  ],
];

/** Tests which keys belong to the data, and that each is returned unchanged. */
export function testDataKeys(tenant: () => Promise<DataTenant>): void {
  test('leaves out keys in which a kube-apiserver announces itself', async () => {
    await using subject = await tenant();
    const { data, hand } = subject;
    const start = await data.revision();
    await hand.put('masterleases/192.0.2.1', bytes('x'), 15);
    await hand.put('peerserverleases/a', bytes('x'), 15);
    await hand.put('leases/kube-system/kube-controller-manager', bytes('x'));
    await hand.put('leases/kube-system/kube-scheduler', bytes('x'));
    await hand.put('pods/a', bytes('x'));
    expect(await contentOf(data)).toEqual(new Map([['pods/a', 'x']]));
    expect(await data.count()).toBe(1);
    expect((await allChanges(data, start)).changes).toHaveLength(1);
  });

  test('counts the live keys and their bytes when it is measured, without previous versions and deleted keys', async () => {
    await using subject = await tenant();
    await using other = await tenant();
    const { hand } = subject;
    const [before, others] = [await subject.content(), await other.content()];
    await hand.put('pods/a', bytes('x'.repeat(10_000)));
    await hand.put('pods/a', bytes('y'.repeat(1000)));
    await hand.put('leases/kube-system/kube-scheduler', bytes('z'.repeat(2000)));
    await hand.put('pods/gone', bytes('x'.repeat(3000)));
    await hand.delete('pods/gone');
    const after = await subject.content();
    expect(after.keys - before.keys).toBe(2);
    expect(after.bytes - before.bytes).toBeGreaterThan(3000);
    expect(after.bytes - before.bytes).toBeLessThan(3200);
    expect(await other.content()).toEqual(others);
    await hand.delete('pods/a');
    expect((await subject.content()).keys - before.keys).toBe(1);
  });

  test('reads and writes unusual names exactly, or refuses them like the datastore', async () => {
    await using subject = await tenant();
    await using other = await tenant();
    const expected = new Map<string, string>();
    const refused: string[] = [];
    for (const [index, name] of odd.entries()) {
      const key = `rbac.authorization.k8s.io/clusterroles/${name}`;
      try {
        await subject.hand.put(key, bytes(`value ${index}`));
        expected.set(key, `value ${index}`);
      } catch {
        refused.push(key);
      }
    }
    expect(expected.size).toBeGreaterThan(odd.length / 2);
    const content = await contentOf(subject.data);
    expect([...content].sort()).toEqual([...expected].sort());
    await other.data.write([...expected].map(([key, value]) => put(key, value)));
    expect([...(await contentOf(other.data))]).toEqual([...content]);
    for (const [key, value] of expected) expect(await other.hand.get(key)).toEqual(Buffer.from(value));
    for (const key of refused) {
      await expect(other.data.write([put(key, 'x')])).rejects.toBeInstanceOf(StoreError);
    }
    expect((await contentOf(other.data)).size).toBe(expected.size);
    await other.data.write([...expected.keys()].map((key) => ({ is: 'deleted', key })));
    expect(await other.data.count()).toBe(0);
  }, 60_000);
}
