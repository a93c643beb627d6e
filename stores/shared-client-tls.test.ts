import { beforeAll, describe, expect, test } from '@jest/globals';
import { createPrivateKey, X509Certificate } from 'node:crypto';
import { storedMeta } from '../api/as-stored.ts';
import type { DataStore } from '../api/steward/v1alpha1/data-store.ts';
import { parseCertificates } from '../kubeadm/pki/certificate-chain.ts';
import { issueCa } from '../kubeadm/pki/issue.ts';
import type { KeyPair } from '../kubeadm/pki/key-pair.ts';
import { lifetimeFrom } from '../kubeadm/pki/lifetime.ts';
import { describeEtcd } from '../testing/contracts/stores/etcd/data-store.ts';
import { FakeClock } from '../testing/fake/fake-clock.ts';
import { MemoryStore } from '../testing/fake/memory-driver.ts';
import { clientPair } from '../testing/servers/server-certificates.ts';
import type { ClientTls, Tenancy } from './driver.ts';
import { etcdDriver } from './etcd/driver.ts';
import type { ClientAuthority } from './issued-client-tls.ts';
import { Sessions } from './sessions.ts';
import { sharedClientTls } from './shared-client-tls.ts';
import { StoreAccess } from './store-access.ts';

const day = 24 * 60 * 60 * 1000;
const now = new Date('2030-06-01T00:00:00Z');
const later = (days: number): Date => new Date(now.getTime() + days * day);
const tenancy: Tenancy = { schema: 'alpha', user: 'alpha-user', owner: 'uid' };

const authority = (pair: KeyPair, bundle = pair.certificate): ClientAuthority => ({ ca: bundle, signer: pair });
const makeCa = (commonName: string, days = 3650, pathLength?: number): Promise<KeyPair> =>
  issueCa({ commonName, usages: [], pathLength }, { algorithm: 'ECDSA-P256', lifetime: lifetimeFrom(now, days * day) });

let one: KeyPair;
let two: KeyPair;

beforeAll(async () => {
  [one, two] = await Promise.all([makeCa('one'), makeCa('two')]);
});

describe('Credentials for several datastores', () => {
  test('are an ordinary certificate if the datastores have one signer, with every CA once and the first datastore’s first', async () => {
    const grown = authority(one, two.certificate + one.certificate);
    const tls = await sharedClientTls([authority(one), grown], tenancy, undefined, now);
    expect(parseCertificates(tls.certificate ?? '', 'chain')).toHaveLength(1);
    expect(tls.ca).toBe(one.certificate + two.certificate);
    const other = await sharedClientTls([grown, authority(one)], tenancy, tls, now);
    expect(other).toEqual({ ...tls, ca: two.certificate + one.certificate });
  });

  test('are cross-signed if the datastores have several signers, and stay while nothing changes', async () => {
    const both = [authority(one), authority(two)] as const;
    const tls = await sharedClientTls(both, tenancy, undefined, now);
    expect(parseCertificates(tls.certificate ?? '', 'chain')).toHaveLength(3);
    expect(tls.ca).toBe(one.certificate + two.certificate);
    await expect(sharedClientTls(both, tenancy, tls, later(300))).resolves.toEqual(tls);
    const three = await makeCa('three');
    const changed: readonly (readonly [string, Promise<ClientTls>])[] = [
      ['near its end', sharedClientTls(both, tenancy, tls, later(336))],
      ['another user', sharedClientTls(both, { ...tenancy, user: 'other' }, tls, now)],
      ['another CA', sharedClientTls([authority(one), authority(three)], tenancy, tls, now)],
      ['one CA less', sharedClientTls([authority(one)], tenancy, tls, now)],
      ['a broken key', sharedClientTls(both, tenancy, { ...tls, key: 'broken' }, now)],
    ];
    for (const [change, made] of changed) {
      expect({ change, certificate: (await made).certificate }).not.toEqual({ change, certificate: tls.certificate });
    }
  });

  test('have no private key but that of the tenant, so that nothing more can be signed with the CA that joins the signers', async () => {
    const tls = await sharedClientTls([authority(one), authority(two)], tenancy, undefined, now);
    expect(JSON.stringify(tls).match(/BEGIN [A-Z ]*PRIVATE KEY/g)).toHaveLength(1);
    const [leaf, ...joining] = parseCertificates(tls.certificate ?? '', 'chain');
    const key = createPrivateKey(tls.key ?? '');
    expect([leaf.ca, leaf.checkPrivateKey(key)]).toEqual([false, true]);
    expect(joining.map((each) => [each.ca, each.checkPrivateKey(key)])).toEqual([
      [true, false],
      [true, false],
    ]);
  });

  test('never exceed the lifetime of a CA, are not renewed needlessly then, and report an expired one', async () => {
    const both = [authority(one), authority(await makeCa('short', 20))] as const;
    const tls = await sharedClientTls(both, tenancy, undefined, now);
    expect(new X509Certificate(tls.certificate ?? '').validToDate).toEqual(later(20));
    await expect(sharedClientTls(both, tenancy, tls, later(1))).resolves.toEqual(tls);
    await expect(sharedClientTls(both, tenancy, tls, later(21))).rejects.toThrow(/expired at 2030-06-21/);
  });

  test('cannot be issued with a CA that may not sign CA certificates, and the message names it', async () => {
    const narrow = authority(await makeCa('narrow', 3650, 0));
    const made = sharedClientTls([authority(one), narrow], tenancy, undefined, now);
    await expect(made).rejects.toMatchObject({ name: 'StoreError', reason: 'Unsupported' });
    await expect(made).rejects.toThrow(/CN=narrow/);
  });
});

describe('opening DataStores together', () => {
  const { signal } = new AbortController();
  const access = (): StoreAccess =>
    new StoreAccess({
      drivers: [etcdDriver, new MemoryStore({ kine: true }).driver],
      sessions: new Sessions({ clock: new FakeClock() }),
      read: () => Promise.resolve(undefined),
    });
  const named = async (name: string, ca: KeyPair): Promise<DataStore> => ({
    ...describeEtcd([`${name}:2379`], ca, await clientPair(ca, 'root')),
    metadata: storedMeta({ name }),
  });

  test('returns one certificate and the binding of each datastore', async () => {
    const opened = await access().openTogether([await named('a', one), await named('b', two)], signal);
    expect(opened.stores.map((store) => store.bind(tenancy))).toMatchObject([
      { endpoints: ['https://a:2379'] },
      { endpoints: ['https://b:2379'] },
    ]);
    await expect(opened.clientTls(tenancy, undefined, now)).resolves.toMatchObject({
      ca: one.certificate + two.certificate,
    });
  });

  test('names the DataStore whose credentials are missing', async () => {
    const good = await named('a', one);
    const bare: DataStore = {
      ...good,
      metadata: storedMeta({ name: 'bare' }),
      spec: { driver: 'etcd', endpoints: ['b:2379'] },
    };
    await expect(access().openTogether([good, bare], signal)).rejects.toThrow(/^DataStore bare: .*is not set/s);
  });

  test('is refused for drivers without such certificates, with the names and drivers', async () => {
    const good = await named('a', one);
    const sql: DataStore = {
      ...good,
      metadata: storedMeta({ name: 'sql' }),
      spec: { ...good.spec, driver: 'PostgreSQL' },
    };
    for (const stores of [[good, sql] as const, [sql, good] as const]) {
      await expect(access().openTogether(stores, signal)).rejects.toThrow(/sql \(driver PostgreSQL\)/);
    }
  });
});
