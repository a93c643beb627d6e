import { describe, expect, test } from '@jest/globals';
import { X509Certificate } from 'node:crypto';
import { kinds } from '../../../api/core/kinds.ts';
import type { Secret } from '../../../api/core/kinds.ts';
import { silent } from '../../../runtime/observe/logger.ts';
import { FakeClock } from '../../../testing/fake/fake-clock.ts';
import { FakeCluster } from '../../../testing/fake/fake-cluster.ts';
import { writeEtcdSecrets } from './bootstrap.ts';
import type { EtcdBootstrap } from './bootstrap.ts';
import { etcdEndpoints, etcdSecretNames } from './bootstrap-plan.ts';

const namespace = 'steward-system';
const day = 24 * 60 * 60 * 1000;
/** The permissions in config/datastores/etcd/bootstrap.yaml, as far as the fake cluster distinguishes names. */
const access = [{ apiGroups: [''], resources: ['secrets'], verbs: ['get', 'create', 'patch'] }];

function rig(): EtcdBootstrap & { readonly cluster: FakeCluster; readonly clock: FakeClock } {
  const clock = new FakeClock();
  const cluster = new FakeCluster({ access });
  const plan = { namespace, members: 1, clusterDomain: 'cluster.local' };
  return { plan, cluster, clock, log: silent, signal: new AbortController().signal };
}

async function stored(cluster: FakeCluster): Promise<Readonly<Record<string, Secret>>> {
  const { items } = await cluster.admin.list(kinds.Secret, { namespace });
  return Object.fromEntries(items.map((secret) => [secret.metadata.name, secret]));
}

const textOf = (secret: Secret | undefined, key: string): string =>
  Buffer.from(secret?.data?.[key] ?? '', 'base64').toString();
const certificateOf = (secret: Secret | undefined, key = 'tls.crt'): X509Certificate =>
  new X509Certificate(textOf(secret, key));

describe('writeEtcdSecrets', () => {
  test('creates the Secrets that the documented DataStore and the StatefulSet reference', async () => {
    const { cluster, ...options } = rig();
    await writeEtcdSecrets({ cluster, ...options });
    const secrets = await stored(cluster);
    expect(
      Object.fromEntries(Object.entries(secrets).map(([name, { data = {} }]) => [name, Object.keys(data).sort()])),
    ).toEqual({
      'etcd-certs': ['ca.crt', 'ca.key', 'tls.crt', 'tls.key'],
      'etcd-server-certs': ['ca.crt', 'tls.crt', 'tls.key'],
      'etcd-peer-ca': ['ca.crt', 'ca.key'],
      'etcd-peer-certs': ['ca.crt', 'tls.crt', 'tls.key'],
    });
    expect(certificateOf(secrets['etcd-certs']).subject).toBe('CN=root');
  });

  test('issues member certificates for every name that clients and peers use', async () => {
    const { cluster, ...options } = rig();
    await writeEtcdSecrets({ cluster, ...options });
    const secrets = await stored(cluster);
    for (const name of ['etcd-server-certs', 'etcd-peer-certs']) {
      const certificate = certificateOf(secrets[name]);
      for (const host of [
        'localhost',
        'etcd',
        'etcd-0.etcd',
        'etcd-2.etcd.steward-system.svc',
        'etcd-0.etcd.steward-system.svc.cluster.local',
      ]) {
        expect(certificate.checkHost(host)).toBe(host);
      }
      expect(certificate.checkIP('127.0.0.1')).toBe('127.0.0.1');
    }
  });

  test('uses different CAs for peers and for clients, so that no tenant can pose as a member', async () => {
    const { cluster, ...options } = rig();
    await writeEtcdSecrets({ cluster, ...options });
    const secrets = await stored(cluster);
    const peerCa = certificateOf(secrets['etcd-peer-certs'], 'ca.crt');
    expect(certificateOf(secrets['etcd-peer-certs']).verify(peerCa.publicKey)).toBe(true);
    expect(certificateOf(secrets['etcd-server-certs']).verify(peerCa.publicKey)).toBe(false);
    expect(certificateOf(secrets['etcd-certs']).verify(peerCa.publicKey)).toBe(false);
  });

  test('changes nothing when it runs again', async () => {
    const { cluster, ...options } = rig();
    await writeEtcdSecrets({ cluster, ...options });
    const before = await stored(cluster);
    await writeEtcdSecrets({ cluster, ...options });
    expect(await stored(cluster)).toEqual(before);
  });

  test('renews certificates in their last three months and keeps the CAs', async () => {
    const { cluster, clock, ...options } = rig();
    await writeEtcdSecrets({ cluster, clock, ...options });
    const before = await stored(cluster);
    await clock.advance(280 * day);
    await writeEtcdSecrets({ cluster, clock, ...options });
    const after = await stored(cluster);
    for (const name of ['etcd-certs', 'etcd-server-certs', 'etcd-peer-certs']) {
      expect(textOf(after[name], 'tls.crt')).not.toBe(textOf(before[name], 'tls.crt'));
      expect(textOf(after[name], 'ca.crt')).toBe(textOf(before[name], 'ca.crt'));
    }
  });

  test('completes what an interrupted run left', async () => {
    for (const name of Object.values(etcdSecretNames).slice(1)) {
      const { cluster, ...options } = rig();
      await writeEtcdSecrets({ cluster, ...options });
      await cluster.admin.delete(kinds.Secret, { namespace, name });
      const before = await stored(cluster);
      await writeEtcdSecrets({ cluster, ...options });
      const after = await stored(cluster);
      expect(Object.keys(after)).toHaveLength(4);
      expect(textOf(after['etcd-certs'], 'ca.crt')).toBe(textOf(before['etcd-certs'], 'ca.crt'));
    }
  });

  test('agrees with a concurrent run on one CA', async () => {
    const { cluster, ...options } = rig();
    const [left, right] = await Promise.all([
      writeEtcdSecrets({ cluster, ...options }),
      writeEtcdSecrets({ cluster, ...options }),
    ]);
    expect(left.get('etcd-certs')?.['ca.crt']).toBe(right.get('etcd-certs')?.['ca.crt']);
    expect(textOf((await stored(cluster))['etcd-server-certs'], 'ca.crt')).toBe(left.get('etcd-certs')?.['ca.crt']);
  });

  test('never replaces a CA that a person broke, and says how to fix it', async () => {
    const { cluster, ...options } = rig();
    const metadata = { name: 'etcd-certs', namespace };
    await cluster.seed(kinds.Secret, { apiVersion: 'v1', kind: 'Secret', metadata });
    await expect(writeEtcdSecrets({ cluster, ...options })).rejects.toThrow(
      /Secret etcd-certs, ca\.crt and ca\.key: .*restore it, or delete/,
    );
  });
});

describe('etcdEndpoints', () => {
  test('returns the endpoints of the documented DataStore', () => {
    expect(etcdEndpoints({ namespace, members: 3, clusterDomain: 'cluster.local' })).toEqual([
      'etcd-0.etcd.steward-system.svc.cluster.local:2379',
      'etcd-1.etcd.steward-system.svc.cluster.local:2379',
      'etcd-2.etcd.steward-system.svc.cluster.local:2379',
    ]);
  });
});
