import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { randomUUID } from 'node:crypto';
import { kinds, type ConfigMap } from '../../api/core/kinds.ts';
import { crd, crdName } from '../../api/generate/crd.ts';
import type { Resource } from '../../api/meta.ts';
import type { Kind } from '../../api/schema.ts';
import { tenantControlPlane } from '../../api/steward/v1alpha1/tenant-control-plane.ts';
import { briefly, describeCluster, eventsUntil } from '../../testing/contracts/cluster-suite.ts';
import { configMap } from '../../testing/contracts/cluster-under-test.ts';
import { patient } from '../../testing/patient.ts';
import { apiServerUnderTest } from '../../testing/servers/api-server-under-test.ts';
import { startApiServer, type ApiServer, type ApiServerAccess } from '../../testing/servers/api-server.ts';
import { startTcpProxy } from '../../testing/servers/tcp-proxy.ts';
import type { Cluster } from './cluster.ts';
import type { Connection } from './connection.ts';
import { UnreachableError } from './errors.ts';
import { guardWrites } from './guard-writes.ts';
import { openCluster, type ClusterOptions } from './http-cluster.ts';
import { InformerFactory } from '../cache/informer-factory.ts';
import type { Informer } from '../cache/informer.ts';

const connectionTo = (server: ApiServerAccess): Connection => ({
  server: server.url,
  ca: server.ca,
  clientCert: server.adminCertificate,
  clientKey: server.adminKey,
});

async function freshNamespace(cluster: Cluster): Promise<string> {
  const namespace = `test-${randomUUID().slice(0, 8)}`;
  await cluster.create(kinds.Namespace, { apiVersion: 'v1', kind: 'Namespace', metadata: { name: namespace } });
  return namespace;
}

/** Installs a kind of Steward, and waits until the server serves it. */
async function installCrd(cluster: Cluster, kind: Kind): Promise<void> {
  const fieldSelector = `metadata.name=${crdName(kind)}`;
  await cluster.apply(kinds.CustomResourceDefinition, crd(kind), { fieldManager: 'test' });
  for await (const event of cluster.watch(kinds.CustomResourceDefinition, {
    fieldSelector,
    signal: AbortSignal.timeout(patient(20_000)),
  })) {
    if (!('object' in event)) continue;
    // `null` until the server has processed it.
    const conditions = event.object.status?.conditions ?? [];
    if (conditions.some(({ type, status }) => type === 'Established' && status === 'True')) return;
  }
}

/** Resolves when the informer's state satisfies `is`, checked after each change. */
function whenCache<T extends Resource>(
  informer: Informer<T>,
  is: (names: readonly string[]) => boolean,
): Promise<void> {
  return new Promise((resolve) => {
    const look = (): void => {
      if (
        is(
          informer
            .list()
            .map(({ metadata }) => metadata.name)
            .sort(),
        )
      )
        resolve();
    };
    informer.subscribe(look);
    look();
  });
}

describeCluster('a real API server', async () => {
  const cluster = openCluster(connectionTo(await apiServerUnderTest()), { name: 'management' });
  await installCrd(cluster, tenantControlPlane);
  return { cluster, namespace: await freshNamespace(cluster), close: () => cluster.close() };
});

describe('The client with a real API server', () => {
  let connection: Connection;
  let cluster: Cluster;
  let namespace: string;
  const opened: Cluster[] = [];
  const openTo = (more: Partial<Connection>, options: Partial<ClusterOptions> = {}): Cluster => {
    const one = openCluster({ ...connection, ...more }, { name: 'management', timeoutMs: 10_000, ...options });
    opened.push(one);
    return one;
  };
  beforeAll(async () => {
    connection = connectionTo(await apiServerUnderTest());
    cluster = openTo({});
    namespace = await freshNamespace(cluster);
  });
  afterAll(async () => {
    await Promise.all(opened.map((one) => one.close()));
  });
  const port = (): number => Number(new URL(connection.server).port);

  test('reuses its connections: 200 calls, ten at a time, use at most eight', async () => {
    await using proxy = await startTcpProxy(port());
    const kept = openTo({ dial: { host: '127.0.0.1', port: proxy.port } });
    for (let round = 0; round < 20; round += 1) {
      await Promise.all(Array.from({ length: 10 }, () => kept.get(kinds.Namespace, { name: namespace })));
    }
    expect(proxy.accepted).toBeLessThanOrEqual(8);
  });

  test('does not send a write that waited for a connection and may no longer be sent', async () => {
    await using proxy = await startTcpProxy(port());
    const waiting = openTo({ dial: { host: '127.0.0.1', port: proxy.port } });
    let may = true;
    const guard = (): void => {
      if (!may) throw new Error('no longer allowed');
    };
    const guarded = guardWrites(waiting, guard, { atSocket: true });
    await guarded.create(kinds.ConfigMap, configMap(namespace, 'allowed'));
    proxy.cut();
    proxy.freeze();
    const late = guarded.create(kinds.ConfigMap, configMap(namespace, 'not-allowed'));
    const refused = expect(late).rejects.toThrow('no longer allowed');
    may = false;
    proxy.thaw();
    await refused;
    const stored = (name: string) => cluster.get(kinds.ConfigMap, { namespace, name });
    expect([await stored('allowed'), await stored('not-allowed')]).toEqual([expect.anything(), undefined]);
    may = true;
    await guarded.delete(kinds.ConfigMap, { namespace, name: 'allowed' });
    expect(await stored('allowed')).toBeUndefined();
  });

  test('verifies the given name, not the address that it connects to', async () => {
    const dial = { host: '127.0.0.1', port: port() };
    const named = openTo({ server: 'https://kubernetes.default.svc:6443', dial });
    expect(await named.get(kinds.Namespace, { name: namespace })).toBeDefined();
    const wrong = openTo({ dial, tlsServerName: 'somebody.else' }).get(kinds.Namespace, { name: namespace });
    await expect(wrong).rejects.toThrow(/somebody\.else.*ERR_TLS_CERT_ALTNAME_INVALID/);
    await expect(wrong).rejects.toBeInstanceOf(UnreachableError);
  });

  test('does not trust a server of another CA, nor any without a CA', async () => {
    const { server, clientCert = '', clientKey = '' } = connection;
    const stranger = openCluster({ server, clientCert, clientKey }, { name: 'management' });
    opened.push(stranger);
    await expect(stranger.text('/version')).rejects.toThrow(/not reachable/);
  });

  test('gives up a silent watch, and the informer continues when the network is back', async () => {
    await using proxy = await startTcpProxy(port());
    const watched = openTo({ dial: { host: '127.0.0.1', port: proxy.port } }, { silenceMs: 500, timeoutMs: 1000 });
    const factory = new InformerFactory({ cluster: watched, random: () => 0 });
    const informer = factory.informer({ kind: kinds.ConfigMap, namespace, labelSelector: 'test=silence' });
    await informer.synced;
    proxy.freeze();
    await cluster.create(
      kinds.ConfigMap,
      configMap(namespace, 'unseen', { metadata: { labels: { test: 'silence' } } }),
    );
    const lost = new Promise<void>((resolve) => {
      const poll = setInterval(() => {
        if (informer.health().failure === undefined) return;
        clearInterval(poll);
        resolve();
      }, 20);
    });
    await lost;
    expect(informer.health().failure).toMatch(/silent for 0.5 s|no answer within 1 s/);
    proxy.thaw();
    await whenCache(informer, (names) => names.includes('unseen'));
    await factory.close();
  }, 20_000);

  test('notices a reset connection in a watch and hides it in a read', async () => {
    await using proxy = await startTcpProxy(port());
    const cuttable = openTo({ dial: { host: '127.0.0.1', port: proxy.port } });
    await cuttable.get(kinds.Namespace, { name: namespace });
    const watching = (async () => {
      const signal = new AbortController().signal;
      for await (const event of cuttable.watch(kinds.ConfigMap, { namespace, signal })) {
        if (event.type === 'SYNC') proxy.cut();
      }
    })();
    await expect(watching).rejects.toBeInstanceOf(UnreachableError);
    expect(await cuttable.get(kinds.Namespace, { name: namespace })).toBeDefined();
  });

  test('lists 2,000 Secrets in pages and streams them as metadata only', async () => {
    const labels = { test: 'many' };
    const data = { key: Buffer.alloc(3000, 'x').toString('base64') };
    const many = openTo({}, { connections: 16 });
    const names = Array.from({ length: 2000 }, (_, index) => `many-${String(index).padStart(4, '0')}`);
    const queue = [...names];
    await Promise.all(
      Array.from({ length: 16 }, async () => {
        for (let name = queue.pop(); name !== undefined; name = queue.pop()) {
          await many.create(kinds.Secret, {
            apiVersion: 'v1',
            kind: 'Secret',
            metadata: { name, namespace, labels },
            data,
          });
        }
      }),
    );
    let bytes = 0;
    const measured = openTo({}, { onRequest: (measure) => (bytes += measure.bytes) });
    const listed = await measured.list(kinds.Secret, { namespace, labelSelector: 'test=many' });
    expect(listed.items.map((item) => item.metadata.name)).toEqual(names);
    expect(bytes).toBeGreaterThan(8_000_000);
    const options = { namespace, labelSelector: 'test=many', metadataOnly: true };
    const events = await eventsUntil(measured, kinds.Secret, options, (seen) => seen.at(-1)?.type === 'SYNC');
    expect(briefly(events)).toEqual([...names.map((name) => `ADDED ${name}`), 'SYNC']);
    expect(events.some((event) => 'object' in event && 'data' in event.object)).toBe(false);
    const small = openTo({}, { maxBodyBytes: 1_000_000 });
    await expect(small.list(kinds.Secret, { namespace })).rejects.toThrow(/larger than 1000000 bytes/);
  }, 60_000);

  test('measures each request', async () => {
    const measures: string[] = [];
    const measured = openTo(
      {},
      { onRequest: ({ cluster: name, verb, method, code }) => measures.push(`${name} ${verb} ${method} ${code}`) },
    );
    await measured.get(kinds.ConfigMap, { namespace, name: 'absent' });
    await measured.delete(kinds.ConfigMap, { namespace, name: 'absent' });
    expect(measures).toEqual(['management get GET 404', 'management delete DELETE 404']);
  });
});

describe('An API server that is killed', () => {
  let server: ApiServer;
  beforeAll(async () => {
    server = await startApiServer();
  }, 180_000);
  afterAll(async () => {
    await server.stop();
  });

  test('makes an informer miss nothing, however it ended and came back', async () => {
    const cluster = openCluster(connectionTo(server), { name: 'management', timeoutMs: patient(10_000) });
    const namespace = await freshNamespace(cluster);
    const make = (name: string): Promise<ConfigMap> => cluster.create(kinds.ConfigMap, configMap(namespace, name));
    const stays = await make('stays');
    await make('goes');
    const replaced = await make('replaced');
    const factory = new InformerFactory({ cluster });
    const informer = factory.informer({ kind: kinds.ConfigMap, namespace });
    await informer.synced;
    const lines: string[] = [];
    informer.subscribe((old, now) =>
      lines.push(`${now === undefined ? '-' : '+'}${(now ?? old)?.metadata.name ?? ''}`),
    );
    await server.kill();
    await expect(cluster.text('/version')).rejects.toBeInstanceOf(UnreachableError);
    await server.restart();
    // Before the informer is back: it has seen nothing of this when it comes.
    await cluster.delete(kinds.ConfigMap, { namespace, name: 'goes' });
    await cluster.delete(kinds.ConfigMap, { namespace, name: 'replaced' });
    await make('replaced');
    await make('new');
    await whenCache(
      informer,
      (names) => names.join() === 'kube-root-ca.crt,new,replaced,stays' || names.join() === 'new,replaced,stays',
    );
    expect(informer.get({ namespace, name: 'replaced' })?.metadata.uid).not.toBe(replaced.metadata.uid);
    expect(lines.slice(-4).sort()).toEqual(['+new', '+replaced', '-goes', '-replaced']);
    // The restarted server's history begins later than this version.
    const { resourceVersion } = stays.metadata;
    const old = cluster.watch(kinds.ConfigMap, { resourceVersion, signal: new AbortController().signal });
    await expect(old[Symbol.asyncIterator]().next()).rejects.toMatchObject({ name: 'ApiError', code: 410 });
    await factory.close();
    await cluster.close();
  }, 120_000);
});
