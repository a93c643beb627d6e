import { expect, test } from '@jest/globals';
import { writeFile } from 'node:fs/promises';
import { get } from 'node:https';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { setTimeout as pause } from 'node:timers/promises';
import { kinds } from '../../api/core/kinds.ts';
import { compactionInterval } from '../../controllers/tenantcontrolplane/datastore/compaction-interval.ts';
import { parseVersion } from '../../kubeadm/versions.ts';
import { openCluster } from '../../runtime/client/http-cluster.ts';
import { parseKubeconfig } from '../../runtime/client/kubeconfig.ts';
import { startEtcdDataStore } from '../../testing/contracts/stores/etcd/data-store.ts';
import { toolPin } from '../../e2e/tools/pins.ts';
import { patient } from '../../testing/patient.ts';
import { startApiServer } from '../../testing/servers/api-server.ts';
import type { ApiServer } from '../../testing/servers/api-server.ts';
import { serverFolder } from '../../testing/servers/server-folder.ts';
import type { ClientTls, StoreBinding } from '../driver.ts';
import { etcdDriver } from './driver.ts';

/** The version that runs by default. */
const newest = parseVersion(toolPin('kube-apiserver').source.version);

/** The flags that a tenant's API server gets. */
async function flagsOf(
  folder: string,
  binding: StoreBinding,
  tls: ClientTls,
): Promise<Readonly<Record<string, string>>> {
  if (binding.kind !== 'etcd') throw new Error('not etcd');
  const write = async (name: string, text: string): Promise<string> => {
    await writeFile(join(folder, name), text, { mode: 0o600 });
    return join(folder, name);
  };
  return {
    'etcd-servers': binding.endpoints.join(),
    'etcd-prefix': binding.prefix,
    'etcd-compaction-interval': compactionInterval(newest),
    'etcd-cafile': await write('ca.crt', tls.ca),
    'etcd-certfile': await write('tls.crt', tls.certificate ?? ''),
    'etcd-keyfile': await write('tls.key', tls.key ?? ''),
  };
}

test('a real kube-apiserver uses only its tenancy, whose removal leaves nothing behind', async () => {
  await using folder = await serverFolder();
  await using store = await startEtcdDataStore();
  const config = await etcdDriver.configure(store.dataStore, () => Promise.resolve(undefined));
  await using session = await etcdDriver.open(config, new AbortController().signal);
  const tenancy = { schema: 'tenant', user: 'tenant', owner: 'uid' };
  const before = await store.server.control('get', '', '--prefix', '--keys-only');
  await session.ensure(tenancy);
  const tls = await etcdDriver.clientTls(config, tenancy, undefined, new Date());
  if (tls === undefined) throw new Error('etcd uses TLS');
  {
    await using server = await startApiServer({
      flags: await flagsOf(folder.path, etcdDriver.bind(config, tenancy), tls),
    });
    const cluster = openCluster(parseKubeconfig(server.kubeconfig), { name: 'tenant' });
    try {
      const metadata = { name: 'kept', namespace: 'default' };
      await cluster.create(kinds.ConfigMap, { apiVersion: 'v1', kind: 'ConfigMap', metadata, data: { a: 'b' } });
      expect((await cluster.list(kinds.ConfigMap, { namespace: 'default' })).items.length).toBeGreaterThan(0);
    } finally {
      await cluster.close();
    }
    const keys = (await store.server.control('get', '', '--prefix', '--keys-only'))
      .split('\n')
      .filter((key) => key !== '');
    expect(keys).toContain('/tenant/configmaps/default/kept');
    expect(keys.filter((key) => !/^(?:\/tenant\/|steward\.butlerlabs\.dev\/)/.test(key))).toEqual([]);
    // While it still runs: its own writes do not come back.
    await session.remove(tenancy);
    expect(await store.server.control('get', '', '--prefix', '--keys-only')).toBe(before);
  }
  expect((await store.server.control('user', 'list')).trim()).toBe('root');
  expect(await store.server.control('role', 'list')).not.toContain('tenant');
}, 120_000);

interface ListAnswer {
  readonly code: number;
  readonly items: readonly { readonly metadata: { readonly name: string } }[];
  /** Where the next page begins; a list that is too old has one that goes on with newer objects. */
  readonly next: string;
}

/** A page of one ConfigMap of the namespace default, by the bytes of the protocol. */
async function page(server: ApiServer, from: string): Promise<ListAnswer> {
  const query = new URLSearchParams({ limit: '1', continue: from }).toString();
  const url = `${server.url}/api/v1/namespaces/default/configmaps?${query}`;
  const { ca, adminCertificate: cert, adminKey: key } = server;
  const { code, body } = await new Promise<{ readonly code: number; readonly body: string }>((resolve, reject) => {
    get(url, { ca, cert, key, agent: false }, (response) => {
      text(response).then((all) => {
        resolve({ code: response.statusCode ?? 0, body: all });
      }, reject);
    }).once('error', reject);
  });
  const answer = JSON.parse(body) as {
    readonly items?: ListAnswer['items'];
    readonly metadata: { readonly continue?: string };
  };
  return { code, items: answer.items ?? [], next: answer.metadata.continue ?? '' };
}

test('a real kube-apiserver ends a list whose revision etcd has compacted, and continues from its last key', async () => {
  await using folder = await serverFolder();
  await using store = await startEtcdDataStore();
  const config = await etcdDriver.configure(store.dataStore, () => Promise.resolve(undefined));
  await using session = await etcdDriver.open(config, new AbortController().signal);
  const tenancy = { schema: 'tenant', user: 'tenant', owner: 'uid' };
  await session.ensure(tenancy);
  const tls = await etcdDriver.clientTls(config, tenancy, undefined, new Date());
  if (tls === undefined) throw new Error('etcd uses TLS');
  await using server = await startApiServer({
    flags: await flagsOf(folder.path, etcdDriver.bind(config, tenancy), tls),
  });
  const cluster = openCluster(parseKubeconfig(server.kubeconfig), { name: 'tenant' });
  try {
    for (const name of ['a', 'b', 'c']) {
      await cluster.create(kinds.ConfigMap, {
        apiVersion: 'v1',
        kind: 'ConfigMap',
        metadata: { name, namespace: 'default' },
      });
    }
  } finally {
    await cluster.close();
  }
  const first = await page(server, '');
  expect(first).toMatchObject({ code: 200, items: [{ metadata: { name: 'a' } }] });
  // The revision of the list itself would be retained.
  await store.server.control('put', 'another', 'x');
  const revision = /"revision":(\d+)/.exec(await store.server.control('get', 'x', '--write-out=json'))?.[1] ?? '';
  await store.server.control('compact', revision);
  await session.publishCompaction?.();
  // An API server looks every 15 s which of its snapshots are older than that.
  const end = performance.now() + patient(60_000);
  let second = await page(server, first.next);
  while (second.code === 200 && performance.now() < end) {
    await pause(250);
    second = await page(server, first.next);
  }
  expect(second.code).toBe(410);
  expect(await page(server, second.next)).toMatchObject({ code: 200, items: [{ metadata: { name: 'b' } }] });
}, 120_000);
