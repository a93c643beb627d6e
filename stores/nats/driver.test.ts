import { beforeAll, describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { storedMeta } from '../../api/as-stored.ts';
import type { ContentRef, DataStore, DataStoreSpec } from '../../api/steward/v1alpha1/data-store.ts';
import { issue, issueCa } from '../../kubeadm/pki/issue.ts';
import type { KeyPair } from '../../kubeadm/pki/key-pair.ts';
import { lifetimeFrom } from '../../kubeadm/pki/lifetime.ts';
import type { NatsContext } from './isolation/raw-client.ts';
import type { KineBinding, Tenancy } from '../driver.ts';
import { readClaims } from './claims.ts';
import type { NatsConfig } from './config.ts';
import { natsDriver } from './driver.ts';
import { isUnsafe } from './names.ts';
import { isSupportedNats } from './version.ts';
import { operatorKeys, systemCredentials } from './operator.ts';
import { tenantPermissions } from './grants.ts';

const now = new Date('2030-06-01T00:00:00Z');
const keys = operatorKeys(Buffer.alloc(32, 3));
const tenancy: Tenancy = { schema: 'alpha', user: 'alpha-user', owner: 'uid-alpha', password: 'secret-word' };

let ca: KeyPair;
let client: KeyPair;

beforeAll(async () => {
  const options = { algorithm: 'ECDSA-P256', lifetime: lifetimeFrom(now, 10 * 365 * 86_400_000) } as const;
  ca = await issueCa({ commonName: 'ca', usages: [] }, options);
  client = await issue({ commonName: 'operator', usages: ['clientAuth'] }, ca, options);
});

const inline = (text: string): ContentRef => ({ content: Buffer.from(text).toString('base64') });
const accounts = (more: Partial<NonNullable<DataStoreSpec['nats']>> = {}): NonNullable<DataStoreSpec['nats']> => ({
  operatorKey: inline(`${keys.signing.seed}\n`),
  systemCredentials: inline(systemCredentials(keys)),
  replicas: 3,
  storagePerTenant: '2Gi',
  ...more,
});

async function configure(spec: Partial<DataStoreSpec>): Promise<NatsConfig> {
  const store: DataStore = {
    apiVersion: 'steward.butlerlabs.dev/v1alpha1',
    kind: 'DataStore',
    metadata: storedMeta({ name: 'nats' }),
    spec: { driver: 'NATS', endpoints: ['nats-0:4222', '[::1]:4222'], ...spec },
  };
  return natsDriver.configure(store, () => Promise.resolve(undefined));
}

const bind = (config: NatsConfig, over: Partial<Tenancy> = {}): KineBinding =>
  natsDriver.bind(config, { ...tenancy, ...over }) as KineBinding;
const contextOf = (binding: KineBinding): NatsContext =>
  JSON.parse(binding.files?.['nats.json'] ?? '{}') as NatsContext;

test('serves only one tenant without accounts for tenants', () => {
  const spec: DataStoreSpec = { driver: 'NATS', endpoints: ['nats:4222'] };
  const { servesOneTenant } = natsDriver.capabilities;
  expect([spec, { ...spec, nats: accounts() }].map((one) => servesOneTenant(one))).toEqual([true, false]);
});

describe('configure', () => {
  test('reads accounts, a login with a password, and a client certificate as login', async () => {
    expect((await configure({ nats: accounts() })).access).toMatchObject({
      mode: 'accounts',
      operatorSeed: keys.signing.seed,
      replicas: 3,
      bytesPerTenant: 2 ** 31,
    });
    const basicAuth = { username: inline('u\n'), password: inline('p@:/ "\n') };
    expect((await configure({ basicAuth })).access).toEqual({ mode: 'login', user: 'u', password: 'p@:/ "' });
    const tlsConfig = {
      certificateAuthority: { certificate: inline(ca.certificate) },
      clientCertificate: { certificate: inline(client.certificate), privateKey: inline(client.key) },
    };
    const config = await configure({ tlsConfig });
    expect(config).toMatchObject({ access: { mode: 'login' }, tls: { client: { certificate: client.certificate } } });
  });

  test('reports every error at once, and no secret', async () => {
    const broken = configure({
      endpoints: ['nats://a:4222'],
      nats: accounts({
        operatorKey: inline(systemCredentials(keys)),
        systemCredentials: inline(keys.signing.seed),
        storagePerTenant: '1Mi',
      }),
    });
    const error = await broken.then(
      () => new Error('none'),
      (thrown: unknown) => thrown as Error,
    );
    expect(error).toMatchObject({ name: 'StoreError', reason: 'CredentialsInvalid' });
    for (const field of [
      'spec.endpoints[0]',
      'spec.nats.operatorKey',
      'spec.nats.systemCredentials',
      'storagePerTenant',
    ])
      expect(error.message).toContain(field);
    expect(error.message).not.toContain(keys.signing.seed);
    const missing = configure({ nats: accounts({ operatorKey: {} }) });
    await expect(missing).rejects.toMatchObject({ reason: 'CredentialsMissing' });
    const swapped = configure({ nats: accounts({ operatorKey: inline(keys.system.seed) }) });
    await expect(swapped).rejects.toThrow(/not the seed of an operator/);
  });

  test('refuses a credentials file with the seed of another user', async () => {
    const [own, other] = [systemCredentials(keys), systemCredentials(keys, 'other')];
    const seed = /^SU[A-Z2-7]+$/m;
    const mixed = own.replace(seed, seed.exec(other)?.[0] ?? '');
    const broken = configure({ nats: accounts({ systemCredentials: inline(mixed) }) });
    await expect(broken).rejects.toThrow(/does not belong to its JWT/);
  });

  test('computes a checksum over everything', async () => {
    const configs = [
      { nats: accounts() },
      { nats: accounts({ replicas: 1 }) },
      { nats: accounts({ storagePerTenant: '1Gi' }) },
      { nats: accounts({ systemCredentials: inline(systemCredentials(keys, 'b')) }) },
      { nats: accounts({ operatorKey: inline(keys.operator.seed) }) },
      { nats: accounts(), endpoints: ['a:1'] },
      { basicAuth: { username: inline('a'), password: inline('b') } },
      { basicAuth: { username: inline('ab'), password: inline('b') } },
      { tlsConfig: { certificateAuthority: { certificate: inline(ca.certificate) } } },
    ];
    const sums = await Promise.all(configs.map(async (spec) => natsDriver.checksum(await configure(spec))));
    expect(new Set(sums).size).toBe(configs.length);
    expect(natsDriver.checksum(await configure({ nats: accounts() }))).toBe(sums[0]);
  });
});

describe('bind', () => {
  test('gives kine every server and the tenant’s own user, and no credentials of the operator', async () => {
    const config = await configure({ nats: accounts() });
    const binding = bind(config);
    expect(binding).toMatchObject({
      kind: 'kine',
      endpoint: 'nats://?contextFile=/certs/nats.json&bucket=$(DB_SCHEMA)&replicas=3&noEmbed',
      connection: 'nats-0:4222,[::1]:4222',
    });
    const context = contextOf(binding);
    expect(context).toMatchObject({ url: 'nats://nats-0:4222,nats://[::1]:4222' });
    expect(readClaims(context.user_jwt ?? '')).toMatchObject({ nats: { type: 'user' } });
    const told = JSON.stringify(binding);
    for (const secret of [keys.signing.seed, keys.operator.seed, 'secret-word']) expect(told).not.toContain(secret);
    expect(bind(config)).toEqual(binding);
  });

  test('derives other credentials for every changed part of a tenancy, and for another operator key', async () => {
    const config = await configure({ nats: accounts() });
    const changed: readonly Partial<Tenancy>[] = [
      {},
      { schema: 'beta' },
      { user: 'beta' },
      { owner: 'beta' },
      { password: 'beta' },
    ];
    const seeds = changed.map((over) => contextOf(bind(config, over)).user_seed);
    const rotated = await configure({
      nats: accounts({ operatorKey: inline(operatorKeys(Buffer.alloc(32, 4)).signing.seed) }),
    });
    seeds.push(contextOf(bind(rotated)).user_seed);
    expect(new Set(seeds).size).toBe(seeds.length);
    const accountOf = (binding: KineBinding): unknown =>
      (readClaims(contextOf(binding).user_jwt ?? '')?.nats as { issuer_account: string }).issuer_account;
    // The account stays: it holds the data.
    expect(accountOf(bind(rotated, { password: 'x' }))).toBe(accountOf(bind(config)));
    expect(accountOf(bind(config, { schema: 'beta' }))).not.toBe(accountOf(bind(config)));
  });

  test('passes on user and password, whatever characters the password has', async () => {
    const config = await configure({ basicAuth: { username: inline('u'), password: inline('p@:/?#%41 "ä') } });
    const binding = bind(config);
    expect(binding).toMatchObject({ user: 'u', password: 'p@:/?#%41 "ä' });
    expect(contextOf(binding)).toMatchObject({ user: 'u', password: 'p@:/?#%41 "ä' });
    expect(binding.endpoint).not.toContain('p@');
  });
});

describe('clientTls', () => {
  const tlsConfig = (key: boolean): NonNullable<DataStoreSpec['tlsConfig']> => ({
    certificateAuthority: { certificate: inline(ca.certificate), ...(key && { privateKey: inline(ca.key) }) },
    clientCertificate: { certificate: inline(client.certificate), privateKey: inline(client.key) },
  });
  const tls = async (spec: Partial<DataStoreSpec>) =>
    natsDriver.clientTls(await configure(spec), tenancy, undefined, now);

  test('never passes on the certificate of the operator, unless it is the login', async () => {
    expect(await tls({ nats: accounts() })).toBeUndefined();
    expect(await tls({ nats: accounts(), tlsConfig: tlsConfig(false) })).toEqual({ ca: ca.certificate });
    const issued = await tls({ nats: accounts(), tlsConfig: tlsConfig(true) });
    expect(issued?.certificate).toBeDefined();
    expect(issued?.certificate).not.toBe(client.certificate);
    const login = await tls({ tlsConfig: tlsConfig(false) });
    expect(login).toMatchObject({ ca: ca.certificate, certificate: client.certificate });
  });
});

/** Whether a subject with wildcards covers a subject (https://docs.nats.io/nats-concepts/subjects). */
function covers(pattern: string, subject: string): boolean {
  const [want, have] = [pattern.split('.'), subject.split('.')];
  for (const [index, token] of want.entries()) {
    if (token === '>') return have.length > index;
    if (have[index] === undefined || (token !== '*' && token !== have[index])) return false;
  }
  return want.length === have.length;
}

describe('permissions', () => {
  const name = fc.string({ unit: fc.constantFrom(...Array.from('aA0_-.*>$ /KVJSäß')), maxLength: 8 });

  test('for a valid name reach no other name, whatever both are', () => {
    fc.assert(
      fc.property(name, name, (left, right) => {
        if (isUnsafe({ schema: left, user: left, owner: 'o' })) return;
        if (isUnsafe({ schema: right, user: right, owner: 'o' }) || left === right) return;
        const own = tenantPermissions(left, 'open').pub.allow;
        const others = tenantPermissions(right, 'open').pub.allow.filter((subject) => subject !== '$JS.API.INFO');
        for (const pattern of own) {
          for (const subject of others) {
            const sample = subject.replace('>', 'x.y').replaceAll('*', 'x');
            expect({ pattern, sample, covers: covers(pattern, sample) }).toMatchObject({ covers: false });
          }
        }
      }),
      {
        numRuns: 400,
        examples: [
          ['a', 'a_'],
          ['a', 'A'],
          ['KV_a', 'a'],
          ['a', 'KV_a'],
          ['-', '_'],
        ],
      },
    );
  });

  test('of a tenant reach neither the system account nor the administration of its own stream', () => {
    const { pub, sub } = tenantPermissions('alpha', 'open');
    for (const subject of [
      '$SYS.REQ.CLAIMS.UPDATE',
      '$JS.API.STREAM.DELETE.KV_alpha',
      '$JS.API.STREAM.UPDATE.KV_alpha',
    ])
      expect(pub.allow.some((pattern) => covers(pattern, subject))).toBe(false);
    expect(sub.allow).toEqual(['_INBOX.>']);
  });

  test('of a fenced tenant allow writes only to keys that kine needs to start', () => {
    const { pub } = tenantPermissions('alpha', 'fenced');
    const keys = pub.allow.filter((subject) => subject.startsWith('$KV.'));
    expect(keys).toHaveLength(2);
    expect(keys.join()).not.toMatch(/[*>]/);
  });
});

describe('names', () => {
  test('are a single token of a subject, and not a reserved one', () => {
    const bad = ['', 'a.b', 'a b', '*', '>', 'a/b', 'ä', '$JS', 'root', 'steward-tenancies', 'a'.repeat(253), '\ud800'];
    for (const schema of bad) expect([schema, isUnsafe({ ...tenancy, schema })]).toEqual([schema, true]);
    for (const user of bad) expect(isUnsafe({ ...tenancy, user })).toBe(true);
    for (const schema of ['a', 'A_b-9', 'a'.repeat(252)]) expect(isUnsafe({ ...tenancy, schema })).toBe(false);
  });
});

describe('versions', () => {
  test('are supported if they contain the fixes of the latest advisories', () => {
    for (const version of ['2.12.12', '2.12.15', '2.14.3', '2.15.0', '2.15.2', '3.0.0'])
      expect([version, isSupportedNats(version)]).toEqual([version, true]);
    for (const version of [
      '2.10.29',
      '2.11.99',
      '2.12.11',
      '2.13.5',
      '2.14.2',
      '2.14.3-RC.1',
      '2.12.12-beta.1',
      'x',
      '',
    ])
      expect([version, isSupportedNats(version)]).toEqual([version, false]);
  });
});
