import { describe, expect, test } from '@jest/globals';
import { X509Certificate } from 'node:crypto';
import { kinds } from '../../api/core/kinds.ts';
import type { Secret } from '../../api/core/kinds.ts';
import { silent } from '../../runtime/observe/logger.ts';
import { FakeClock } from '../../testing/fake/fake-clock.ts';
import { FakeCluster } from '../../testing/fake/fake-cluster.ts';
import { bootstrapServer } from './bootstrap-server.ts';
import type { ServerBootstrap } from './bootstrap-server.ts';

const namespace = 'steward-system';
const year = 365 * 24 * 60 * 60 * 1000;
/** The permissions in config/datastores, as far as the fake cluster distinguishes names. */
const access = [{ apiGroups: [''], resources: ['secrets'], verbs: ['get', 'create', 'patch'] }];

function rig(): ServerBootstrap & { readonly cluster: FakeCluster; readonly clock: FakeClock } {
  const plan = { name: 'postgres', administrator: 'postgres', namespace, clusterDomain: 'cluster.local' };
  const cluster = new FakeCluster({ access });
  return { plan, cluster, clock: new FakeClock(), log: silent, signal: new AbortController().signal };
}

async function stored(cluster: FakeCluster): Promise<Readonly<Record<string, Secret>>> {
  const { items } = await cluster.admin.list(kinds.Secret, { namespace });
  return Object.fromEntries(items.map((secret) => [secret.metadata.name, secret]));
}

const textOf = (secret: Secret | undefined, key: string): string =>
  Buffer.from(secret?.data?.[key] ?? '', 'base64').toString();

const seeded = (name: string, data: Readonly<Record<string, string>>) => ({
  apiVersion: 'v1',
  kind: 'Secret',
  metadata: { name, namespace },
  data: Object.fromEntries(Object.entries(data).map(([key, text]) => [key, Buffer.from(text).toString('base64')])),
});

describe('bootstrapServer', () => {
  test('creates the Secrets that the documented DataStore and the StatefulSet reference', async () => {
    const options = rig();
    await bootstrapServer(options);
    const secrets = await stored(options.cluster);
    expect(
      Object.fromEntries(Object.entries(secrets).map(([name, { data = {} }]) => [name, Object.keys(data).sort()])),
    ).toEqual({
      'postgres-credentials': ['password', 'username'],
      'postgres-ca': ['ca.crt', 'ca.key'],
      'postgres-server-certs': ['ca.crt', 'tls.crt', 'tls.key'],
    });
    expect(textOf(secrets['postgres-credentials'], 'username')).toBe('postgres');
  });

  test('creates a new password each time, of letters and digits, beginning with a letter', async () => {
    const passwords = await Promise.all(
      Array.from({ length: 3 }, async () => (await bootstrapServer(rig())).get('postgres-credentials')?.password ?? ''),
    );
    for (const password of passwords) expect(password).toMatch(/^[a-z][a-z0-9]{48}$/);
    expect(new Set(passwords).size).toBe(3);
  });

  test('issues the serving certificate for every name of the Service, for the lifetime of its CA', async () => {
    const options = rig();
    await bootstrapServer(options);
    const secrets = await stored(options.cluster);
    const server = new X509Certificate(textOf(secrets['postgres-server-certs'], 'tls.crt'));
    const ca = new X509Certificate(textOf(secrets['postgres-ca'], 'ca.crt'));
    for (const host of ['postgres', 'postgres.steward-system.svc', 'postgres.steward-system.svc.cluster.local'])
      expect(server.checkHost(host)).toBe(host);
    expect(server.checkHost('mysql')).toBeUndefined();
    expect([ca.ca, server.ca]).toEqual([true, false]);
    expect(server.verify(ca.publicKey)).toBe(true);
    expect(server.validToDate).toEqual(ca.validToDate);
  });

  test('changes nothing when it runs again, even years later', async () => {
    const options = rig();
    await bootstrapServer(options);
    const before = await stored(options.cluster);
    await options.clock.advance(5 * year);
    await bootstrapServer(options);
    expect(await stored(options.cluster)).toEqual(before);
  });

  test('keeps a user and a password that a person has chosen, also after the certificate was lost', async () => {
    const options = rig();
    const chosen = { username: 'admin', password: 'chosen by a person' };
    await options.cluster.seed(kinds.Secret, seeded('postgres-credentials', chosen));
    await bootstrapServer(options);
    await options.cluster.admin.delete(kinds.Secret, { namespace, name: 'postgres-server-certs' });
    await bootstrapServer(options);
    const secrets = await stored(options.cluster);
    expect(textOf(secrets['postgres-credentials'], 'password')).toBe(chosen.password);
    expect(textOf(secrets['postgres-credentials'], 'username')).toBe('admin');
    expect(Object.keys(secrets)).toHaveLength(3);
  });

  test('never invents what a broken Secret lacks, and says how to fix it', async () => {
    const options = rig();
    await options.cluster.seed(kinds.Secret, seeded('postgres-credentials', { username: 'postgres' }));
    await expect(bootstrapServer(options)).rejects.toThrow(
      /Secret postgres-credentials has no password\. .*restore it, or delete/,
    );
    expect(Object.keys(await stored(options.cluster))).toEqual(['postgres-credentials']);
  });

  test('agrees with a concurrent run on one password', async () => {
    const options = rig();
    const [left, right] = await Promise.all([bootstrapServer(options), bootstrapServer(options)]);
    expect(left.get('postgres-credentials')).toEqual(right.get('postgres-credentials'));
    expect(left.get('postgres-server-certs')).toEqual(right.get('postgres-server-certs'));
  });
});
