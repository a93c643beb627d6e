import { X509Certificate } from 'node:crypto';
import { beforeAll, describe, expect, test } from '@jest/globals';
import { kinds } from '../../../api/core/kinds.ts';
import { TenantWorld } from '../../../testing/worlds/tenant-world.ts';

/** Everything of one kind of PEM block in the Secrets of a tenant, its kubeconfigs included. */
async function blocksOf(world: TenantWorld, type: string): Promise<readonly string[]> {
  const { items } = await world.cluster.admin.list(kinds.Secret, { namespace: 'default' });
  const texts = items.flatMap(({ data = {} }) =>
    Object.values(data).map((value) => Buffer.from(value, 'base64').toString()),
  );
  const embedded = texts.flatMap((text) =>
    [...text.matchAll(/-data: "?([\w+/=]+)/g)].map(([, value = '']) => Buffer.from(value, 'base64').toString()),
  );
  const block = new RegExp(`-----BEGIN ${type}-----[^-]+-----END ${type}-----`, 'g');
  return [...new Set([...texts, ...embedded].flatMap((text) => text.match(block) ?? []))];
}

const certificatesOf = async (world: TenantWorld): Promise<readonly X509Certificate[]> =>
  (await blocksOf(world, 'CERTIFICATE')).map((text) => new X509Certificate(text));

const isSignedBy = (leaf: X509Certificate, all: readonly X509Certificate[]): boolean =>
  all.some((each) => each.ca && leaf.verify(each.publicKey));

describe('Two tenants of the same name', () => {
  let one: TenantWorld;
  let other: TenantWorld;

  beforeAll(async () => {
    [one, other] = [new TenantWorld(), new TenantWorld()];
    for (const world of [one, other]) {
      await world.create();
      await world.settle();
    }
  });

  test('trust no certificate of each other, although their CAs have the same names', async () => {
    const [ours, theirs] = [await certificatesOf(one), await certificatesOf(other)];
    const leaves = ours.filter(({ ca }) => !ca);
    expect(leaves.length).toBeGreaterThan(5);
    expect(leaves.filter((leaf) => !isSignedBy(leaf, ours))).toEqual([]);
    expect(leaves.filter((leaf) => isSignedBy(leaf, theirs))).toEqual([]);
  });

  test('have no private key in common, so that none signs or accepts tokens of the other', async () => {
    const type = '(?:EC |RSA )?PRIVATE KEY';
    const [ours, theirs] = [await blocksOf(one, type), await blocksOf(other, type)];
    expect(ours.length).toBeGreaterThan(5);
    expect(ours.filter((key) => theirs.includes(key))).toEqual([]);
  });
});
