import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout } from 'node:timers/promises';
import { storedMeta } from '../../../../api/as-stored.ts';
import { kinds } from '../../../../api/core/kinds.ts';
import type { KindRef, Resource } from '../../../../api/meta.ts';
import type { DataStore } from '../../../../api/steward/v1alpha1/data-store.ts';
import { parseVersion } from '../../../../kubeadm/versions.ts';
import { systemClock } from '../../../../runtime/clock.ts';
import type { Cluster } from '../../../../runtime/client/cluster.ts';
import { openCluster } from '../../../../runtime/client/http-cluster.ts';
import { parseKubeconfig } from '../../../../runtime/client/kubeconfig.ts';
import type { ClientTls, Tenancy } from '../../../../stores/driver.ts';
import { readEtcdConfig } from '../../../../stores/etcd/config.ts';
import { etcdDriver } from '../../../../stores/etcd/driver.ts';
import { Sessions } from '../../../../stores/sessions.ts';
import { StoreAccess } from '../../../../stores/store-access.ts';
import type { OpenStores } from '../../../../stores/store-access.ts';
import { startEtcdDataStore } from '../../../../testing/contracts/stores/etcd/data-store.ts';
import type { EtcdDataStore } from '../../../../testing/contracts/stores/etcd/data-store.ts';
import { eventually } from '../../../../testing/eventually.ts';
import { startApiServer } from '../../../../testing/servers/api-server.ts';
import type { ApiServer } from '../../../../testing/servers/api-server.ts';
import { serverFolder } from '../../../../testing/servers/server-folder.ts';
import type { ServerFolder } from '../../../../testing/servers/server-folder.ts';
import { rawEtcdClient } from '../../../../stores/etcd/isolation/raw-client.ts';
import { tenantControlPlaneWith } from '../../../../testing/builders/tenant-control-plane.ts';
import { apiServerArguments } from '../../workload/api-server-arguments.ts';
import { overrideHealthExclusions } from './etcd-overrides.ts';

const event: KindRef = { group: '', version: 'v1', kind: 'Event', plural: 'events', namespaced: true };
const newEvent: KindRef = { ...event, group: 'events.k8s.io' };
const { signal } = new AbortController();

interface Tenant {
  readonly tenancy: Tenancy;
  readonly tls: ClientTls;
}

/** Two stores of tenants, the second for events only. */
interface Stage {
  readonly main: EtcdDataStore;
  readonly events: EtcdDataStore;
  readonly open: OpenStores;
  readonly one: Tenant;
  readonly two: Tenant;
}

async function tenantOf(open: OpenStores, schema: string): Promise<Tenant> {
  const tenancy: Tenancy = { schema, user: schema, owner: `uid-of-${schema}` };
  await Promise.all(open.stores.map((store) => store.use((session) => session.ensure(tenancy))));
  return { tenancy, tls: await open.clientTls(tenancy, undefined, new Date()) };
}

/** The flags about stores that the product gives an API server, with the files where this host has them. */
async function storeFlags(stage: Stage, { tenancy, tls }: Tenant, folder: string): Promise<Record<string, string>> {
  const files: readonly (readonly [string, string | undefined])[] = [
    ['ca.crt', tls.ca],
    ['server.crt', tls.certificate],
    ['server.key', tls.key],
  ];
  await Promise.all(files.map(([name, text = '']) => writeFile(join(folder, name), text, { mode: 0o600 })));
  const [store, other] = stage.open.stores.map((open) => open.bind(tenancy));
  if (store === undefined || other?.kind !== 'etcd') throw new Error('there are two stores of etcd');
  const flags = apiServerArguments({
    tcp: tenantControlPlaneWith(),
    version: parseVersion('v1.36.3'),
    endpoint: { address: '127.0.0.1', port: 6443, host: '127.0.0.1', hostPort: 6443 },
    store,
    overrides: [{ resource: '/events', endpoints: other.endpoints }],
    dataStoreName: 'main',
    kineImage: '',
    checksums: {},
    storageChecksum: '',
  });
  const about = flags.filter((flag) => flag.startsWith('--etcd-'));
  return Object.fromEntries(
    about.map((flag) => {
      const [name = '', ...rest] = flag.slice(2).split('=');
      return [name, rest.join('=').replace('/etc/kubernetes/pki/etcd', folder)];
    }),
  );
}

const keysOf = async (store: EtcdDataStore): Promise<readonly string[]> =>
  (await store.server.control('get', '', '--prefix', '--keys-only')).split('\n').filter((key) => key !== '');

/** The tenants' own keys, without the operator's records. */
const tenantKeys = async (store: EtcdDataStore): Promise<readonly string[]> =>
  (await keysOf(store)).filter((key) => key.startsWith('/'));

function newEventNamed(name: string, kind: KindRef): Parameters<Cluster['create']>[1] {
  const about = { kind: 'ConfigMap', name: 'kept', namespace: 'default' };
  const metadata = { name, namespace: 'default' };
  if (kind === event) return { apiVersion: 'v1', kind: 'Event', metadata, involvedObject: about, reason: 'Tested' };
  return {
    apiVersion: 'events.k8s.io/v1',
    kind: 'Event',
    metadata,
    regarding: about,
    reason: 'Tested',
    action: 'Testing',
    type: 'Normal',
    eventTime: '2026-03-01T12:00:00.000000Z',
    reportingController: 'test/test',
    reportingInstance: 'test',
  };
}

describe.each([
  ['of another CA and release', true],
  ['of the same CA', false],
])('The events of a tenant in a second etcd %s', (_title, foreign) => {
  let stage: Stage;
  let folder: ServerFolder;
  let server: ApiServer;
  let cluster: Cluster;
  let sessions: Sessions;

  beforeAll(async () => {
    folder = await serverFolder();
    const main = await startEtcdDataStore();
    const events = await startEtcdDataStore(foreign ? { release: '3.7' } : { ca: main.tls.ca });
    sessions = new Sessions({ clock: systemClock });
    const access = new StoreAccess({ drivers: [etcdDriver], sessions, read: () => Promise.resolve(undefined) });
    const named = ({ dataStore }: EtcdDataStore, name: string): DataStore => ({
      ...dataStore,
      metadata: storedMeta({ name }),
    });
    const open = await access.openTogether([named(main, 'main'), named(events, 'events')], signal);
    stage = { main, events, open, one: await tenantOf(open, 'one'), two: await tenantOf(open, 'two') };
    server = await startApiServer({ flags: await storeFlags(stage, stage.one, folder.path) });
    cluster = openCluster(parseKubeconfig(server.kubeconfig), { name: 'tenant' });
  }, 180_000);

  afterAll(async () => {
    await cluster.close();
    await server.stop();
    await sessions[Symbol.asyncDispose]();
    await Promise.all([stage.main.server.stop(), stage.events.server.stop()]);
    await folder[Symbol.asyncDispose]();
  });

  test('are there, of both API groups, and nothing else is; none are in the first', async () => {
    await cluster.create<Resource>(event, newEventNamed('by-core', event));
    await cluster.create<Resource>(newEvent, newEventNamed('by-group', newEvent));
    const metadata = { name: 'kept', namespace: 'default' };
    await cluster.create(kinds.ConfigMap, { apiVersion: 'v1', kind: 'ConfigMap', metadata, data: { a: 'b' } });
    const there = await tenantKeys(stage.events);
    expect(there).toEqual(expect.arrayContaining(['/one/events/default/by-core', '/one/events/default/by-group']));
    expect(there.filter((key) => !key.startsWith('/one/events/'))).toEqual([]);
    const first = await tenantKeys(stage.main);
    expect(first).toContain('/one/configmaps/default/kept');
    expect(first.filter((key) => !key.startsWith('/one/') || key.includes('/events/'))).toEqual([]);
  });

  test('are isolated from another tenant’s, like the rest', async () => {
    // What API servers say of themselves comes by itself, some time after they answer.
    const isOwn = (key: string): boolean => key.includes('leases/');
    const keys = async (): Promise<readonly string[][]> => {
      const found = await Promise.all([keysOf(stage.main), keysOf(stage.events)]);
      return found.map((each) => each.filter((key) => !isOwn(key)));
    };
    const before = await keys();
    let refused = 0;
    for (const store of [stage.main, stage.events]) {
      const config = await readEtcdConfig(store.dataStore, () => Promise.resolve(undefined));
      const { certificate = '', key = '' } = stage.two.tls;
      const client = rawEtcdClient(config, { certificate, key });
      const attempts = [
        () => client.get('/one/events/default/by-core').string(),
        () => client.getAll().prefix('/one/').keys(),
        () => client.getAll().all().keys(),
        () => client.put('/one/events/default/forged').value('x').exec(),
        () => client.delete().prefix('/one/').exec(),
        () => client.put('compact_rev_key').value('1').exec(),
        () => client.auth.userList(),
      ];
      for (const attempt of attempts) {
        await expect(attempt()).rejects.toThrow(/permission denied|revision of auth/);
        refused += 1;
      }
      // Its API server watches this key in both.
      expect(await client.get('compact_rev_key').string()).toBeNull();
      await client.put('/two/own').value('x').exec();
      await client.delete().key('/two/own').exec();
      client.close();
    }
    expect(refused).toBe(14);
    expect(await keys()).toEqual(before);
  });

  test('may be unavailable: the API server lives and is ready except for the checks that are left out, and they come back', async () => {
    const { live, ready } = overrideHealthExclusions([
      { resource: '/events', endpoints: stage.events.server.endpoints },
    ]);
    const query = (checks: readonly string[]): string => checks.map((check) => `exclude=${check}`).join('&');
    const answers = (path: string): Promise<string> =>
      cluster.text(path).then(
        () => 'ok',
        () => 'failed',
      );
    await stage.events.server.kill();
    // kube-apiserver checks its datastores periodically and answers with the last result.
    while ((await answers('/readyz')) === 'ok') await setTimeout(50);
    const during = await Promise.all([
      answers(`/livez?${query(['etcd', ...live])}`),
      answers(`/livez?${query(live)}`),
      answers(`/readyz?${query(ready)}`),
    ]);
    expect(during).toEqual(['ok', 'ok', 'ok']);
    const metadata = { name: 'meanwhile', namespace: 'default' };
    await cluster.create(kinds.ConfigMap, { apiVersion: 'v1', kind: 'ConfigMap', metadata });
    await stage.events.server.restart();
    // The API server connects to it again after a pause, which is longer the longer it was away.
    await eventually(() => cluster.create<Resource>(event, newEventNamed('after', event)));
    expect(await tenantKeys(stage.events)).toContain('/one/events/default/after');
  }, 60_000);

  test('are removed from both datastores with the tenant', async () => {
    await server.kill();
    for (const { tenancy } of [stage.one, stage.two]) {
      await Promise.all(stage.open.stores.map((store) => store.use((session) => session.remove(tenancy))));
    }
    for (const store of [stage.main, stage.events]) {
      expect(await keysOf(store)).toEqual([]);
      expect((await store.server.control('user', 'list')).trim()).toBe('root');
      expect((await store.server.control('role', 'list')).trim()).toBe('');
    }
  });
});
