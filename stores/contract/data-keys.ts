import { expect, test } from '@jest/globals';
import { StoreError } from '../store-error.ts';
import type { TenancyContent } from '../driver.ts';
import type { DataTenant } from './tenancy-data-contract.ts';
import { allChanges, allEntries, bytes, contentOf, put } from './data-content.ts';

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

/** What the pages hold, counted as a measurement counts it: keys as they are stored, and values. */
async function contentOfPages({ data, root }: DataTenant): Promise<TenancyContent> {
  const entries = await allEntries(data, await data.revision());
  const sizes = entries.map(({ key, value }) => Buffer.byteLength(root + key) + value.length);
  return { keys: entries.length, bytes: sizes.reduce((sum, size) => sum + size, 0) };
}

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
    const { hand, root } = subject;
    const others = await other.content();
    expect(await subject.content()).toEqual({ keys: 0, bytes: 0 });
    await hand.put('pods/a', bytes('x'.repeat(10_000)));
    await hand.put('pods/a', bytes('y'.repeat(1000)));
    await hand.put('clusterroles/ä 日本', bytes('y'.repeat(77)));
    await hand.put('pods/gone', bytes('x'.repeat(3000)));
    await hand.delete('pods/gone');
    expect(await subject.content()).toEqual(await contentOfPages(subject));
    // Pages leave out what is not copied, and it takes up space nevertheless.
    const uncopied = { key: 'leases/kube-system/kube-scheduler', value: 'z'.repeat(2000) };
    await hand.put(uncopied.key, bytes(uncopied.value));
    const copied = await contentOfPages(subject);
    expect(copied.keys).toBe(2);
    const whole = (root + uncopied.key).length + uncopied.value.length;
    expect(await subject.content()).toEqual({ keys: 3, bytes: copied.bytes + whole });
    expect(await other.content()).toEqual(others);
    await hand.delete('pods/a');
    expect(await subject.content()).toEqual({ keys: 2, bytes: (await contentOfPages(subject)).bytes + whole });
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
    await other.data.beginWrites();
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
