import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { stringify } from 'yaml';
import { allKinds } from '../../api/all-kinds.ts';
import { kinds, type Lease } from '../../api/core/kinds.ts';
import { annotations, labels, stewardGroup } from '../../api/names.ts';
import { tenantControlPlane } from '../../api/steward/v1alpha1/tenant-control-plane.ts';
import type { Cluster } from '../../runtime/client/cluster.ts';
import { openCluster } from '../../runtime/client/http-cluster.ts';
import { patient } from '../../testing/patient.ts';
import { installKinds } from '../../testing/servers/install-kinds.ts';
import { startApiServer } from '../../testing/servers/api-server.ts';
import type { ApiServer } from '../../testing/servers/api-server.ts';
import { startServerProcess } from '../../testing/servers/server-process.ts';
import type { ServerProcess } from '../../testing/servers/server-process.ts';
import { startTcpProxy } from '../../testing/servers/tcp-proxy.ts';
import type { TcpProxy } from '../../testing/servers/tcp-proxy.ts';

const namespace = 'shards';
/** So many that each manager has some: with 24, one in 250 runs would have a manager without any. */
const tenants = Array.from({ length: 48 }, (_, n) => `tenant-${n}`);
/** A Lease and two renewals: what others may need to notice that a member is gone; and a while for the work itself. */
const takeOverMs = 15_000 + 2 * 2_400 + 5_000;

interface AuditEvent {
  readonly user: { readonly username: string };
  readonly requestReceivedTimestamp: string;
  readonly verb: string;
  readonly objectRef?: { readonly resource: string; readonly namespace?: string; readonly name?: string };
  readonly responseStatus?: { readonly code: number };
}

/** A manager with a user and a way to the API server of its own. */
interface Replica {
  readonly user: string;
  readonly process: ServerProcess;
  readonly proxy: TcpProxy;
  readonly log: string;
}

let server: ApiServer;
let admin: Cluster;
let folder: string;
const replicas: Replica[] = [];

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'steward-shards-'));
  const policy = join(folder, 'policy.yaml');
  await writeFile(
    policy,
    stringify({
      ...{ apiVersion: 'audit.k8s.io/v1', kind: 'Policy', omitStages: ['RequestReceived'] },
      rules: [{ level: 'Metadata', verbs: ['create', 'update', 'patch', 'delete'] }, { level: 'None' }],
    }),
  );
  server = await startApiServer({
    flags: { 'audit-policy-file': policy, 'audit-log-path': join(folder, 'audit.log'), 'audit-log-mode': 'blocking' },
  });
  const { url, ca, adminCertificate, adminKey } = server;
  admin = openCluster({ server: url, ca, clientCert: adminCertificate, clientKey: adminKey }, { name: 'management' });
  await installKinds(
    admin,
    allKinds.filter(({ group }) => group === stewardGroup),
  );
  for (const name of [namespace, ...tenants]) {
    await admin.create(kinds.Namespace, { apiVersion: 'v1', kind: 'Namespace', metadata: { name } });
  }
}, 300_000);

afterAll(async () => {
  for (const { process, proxy } of replicas) {
    await process.kill();
    await proxy[Symbol.asyncDispose]();
  }
  await admin.close();
  await server.stop();
  await rm(folder, { recursive: true, force: true });
});

const start = async (user: string, ...flags: readonly string[]): Promise<Replica> => {
  const proxy = await startTcpProxy(Number(new URL(server.url).port));
  const { certificate, key } = await server.clientPair(user, ['system:masters']);
  const base64 = (text: string): string => Buffer.from(text).toString('base64');
  const kubeconfig = join(folder, `${user}.kubeconfig`);
  const cluster = { server: `https://127.0.0.1:${proxy.port}`, 'certificate-authority-data': base64(server.ca) };
  const credentials = { 'client-certificate-data': base64(certificate), 'client-key-data': base64(key) };
  const content = {
    ...{ apiVersion: 'v1', kind: 'Config', 'current-context': 'test' },
    clusters: [{ name: 'test', cluster }],
    users: [{ name: 'test', user: credentials }],
    contexts: [{ name: 'test', context: { cluster: 'test', user: 'test' } }],
  };
  await writeFile(kubeconfig, stringify(content), { mode: 0o600 });
  const log = join(folder, `${user}.log`);
  const process_ = await startServerProcess({
    program: process.execPath,
    programArguments: [
      ...[join(import.meta.dirname, '../steward.ts'), 'manager', `--kubeconfig=${kubeconfig}`],
      ...[`--pod-namespace=${namespace}`, '--shards', '--controllers=tenantcontrolplane,datastore', ...flags],
      ...['--webhook-bind-address=0', '--metrics-bind-address=0', '--health-probe-bind-address=0'],
    ],
    log,
    environment: { ...process.env, POD_NAME: user },
  });
  const replica = { user, process: process_, proxy, log };
  replicas.push(replica);
  return replica;
};

interface PublicClaim {
  readonly members: readonly string[];
  readonly held: readonly string[];
}

/** What each member claims. */
const claims = async (): Promise<readonly PublicClaim[]> => {
  const { items } = await admin.list(kinds.Lease, { namespace, labelSelector: `${labels.shard}=true` });
  const held = items.filter(({ spec }) => (spec?.holderIdentity ?? '') !== '');
  return held.map(({ metadata }) => {
    const claim: unknown = JSON.parse(metadata.annotations?.[annotations.shardClaim] ?? '');
    return claim as PublicClaim;
  });
};

const until = async (what: string, isSo: () => Promise<boolean>, withinMs: number): Promise<void> => {
  const end = performance.now() + patient(withinMs);
  while (!(await isSo())) {
    if (performance.now() > end) throw new Error(`not within ${patient(withinMs)} ms: ${what}`);
    await pause(100);
  }
};

/** All know each other, and none still works on what is another one's now. */
const untilShared = (count: number): Promise<void> =>
  until(
    `${count} members that know each other`,
    async () => {
      const all = await claims();
      return all.length === count && all.every(({ members, held }) => members.length === count && held.length === 0);
    },
    60_000,
  );

/** Every tenant asks for one change of its Service, which one manager makes. */
const request = async (round: number): Promise<void> => {
  const service = { additionalMetadata: { labels: { round: String(round) }, annotations: {} } };
  const body = { spec: { controlPlane: { service } } };
  for (const name of tenants) {
    await admin.patch(tenantControlPlane, { namespace: name, name: 'shop' }, { type: 'merge', body });
  }
};

const isDone = async (round: number): Promise<boolean> => {
  const { items } = await admin.list(kinds.Service, { labelSelector: `round=${round}` });
  return items.length === tenants.length;
};

/** Successful writes to the objects of tenants since a moment. Events say nothing about who works on what. */
const writesSince = async (since: number): Promise<readonly AuditEvent[]> => {
  const lines = (await readFile(join(folder, 'audit.log'), 'utf8')).trim().split('\n');
  return lines
    .map((line) => JSON.parse(line) as AuditEvent)
    .filter(({ user, objectRef, responseStatus, requestReceivedTimestamp }) => {
      const isOfTenant = tenants.includes(objectRef?.namespace ?? '') && objectRef?.resource !== 'events';
      const isByManager = user.username.startsWith('manager-') && (responseStatus?.code ?? 500) < 300;
      return isOfTenant && isByManager && Date.parse(requestReceivedTimestamp) >= since;
    });
};

/** Who has written for each tenant since a moment. */
const writersSince = async (since: number): Promise<ReadonlyMap<string, ReadonlySet<string>>> => {
  const byTenant = Map.groupBy(await writesSince(since), ({ objectRef }) => objectRef?.namespace ?? '');
  return new Map([...byTenant].map(([name, all]) => [name, new Set(all.map(({ user }) => user.username))]));
};

/** All tenants are changed; each by one of these managers, and each manager has some of them. */
const expectShared = async (round: number, withinMs: number, users: readonly string[]): Promise<void> => {
  const since = Date.now();
  await request(round);
  await until(`round ${round}`, () => isDone(round), withinMs);
  const writers = await writersSince(since);
  expect([...writers.keys()].sort()).toEqual(tenants.toSorted());
  for (const who of writers.values()) expect(who.size).toBe(1);
  expect(new Set([...writers.values()].flatMap((who) => [...who]))).toEqual(new Set(users));
};

const leaseOf = async ({ user }: Replica): Promise<Lease> => {
  const { items } = await admin.list(kinds.Lease, { namespace, labelSelector: `${labels.shard}=true` });
  const lease = items.find(({ spec }) => spec?.holderIdentity?.startsWith(`${user}_`) === true);
  if (lease === undefined) throw new Error(`${user} has no Lease`);
  return lease;
};

const ended = (replica: Replica): Promise<void> =>
  expect(replica.process.until(() => Promise.resolve(false), 20_000)).rejects.toThrow('ended with code 1');

test('Managers share the tenants: one that is killed, one that hangs and one that is cut off are followed within a lease, and nothing is done twice', async () => {
  for (const name of tenants) {
    await admin.create(tenantControlPlane, {
      ...{ apiVersion: 'steward.butlerlabs.dev/v1alpha1', kind: 'TenantControlPlane' },
      metadata: { name: 'shop', namespace: name },
      spec: {
        dataStore: 'absent',
        controlPlane: { deployment: { replicas: 1 }, service: { serviceType: 'ClusterIP' } },
        kubernetes: { version: 'v1.36.3' },
      },
    });
  }
  const [killed, hung, cut, left] = await Promise.all(
    (['manager-a', 'manager-b', 'manager-c', 'manager-d'] as const).map((user) => start(user)),
  );
  if (killed === undefined || hung === undefined || cut === undefined || left === undefined) throw new Error('no four');
  await untilShared(4);
  await expectShared(1, 20_000, [killed.user, hung.user, cut.user, left.user]);
  const services = (await admin.list(kinds.Service)).items.map(({ metadata: { uid } }) => uid).sort();

  process.kill(hung.process.pid, 'SIGSTOP');
  const { metadata } = await leaseOf(hung);
  cut.proxy.freeze();
  await killed.process.kill();
  const failed = Date.now();
  await request(2);
  await expectShared(3, takeOverMs, [left.user]);
  // A renewal that the hung one would have sent before, and that arrives now.
  const renewal = { metadata: { resourceVersion: metadata.resourceVersion }, spec: { leaseTransitions: 1 } };
  const delayed = admin.patch(kinds.Lease, metadata, { type: 'merge', body: renewal });
  await expect(delayed).rejects.toMatchObject({ code: 409 });
  await ended(cut);
  cut.proxy.thaw();
  // When it wakes up, it hears of two changes of each of its tenants.
  process.kill(hung.process.pid, 'SIGCONT');
  await ended(hung);
  await expectShared(4, 10_000, [left.user]);
  expect(new Set((await writesSince(failed)).map(({ user }) => user.username))).toEqual(new Set([left.user]));

  // Nothing was made a second time.
  expect((await admin.list(kinds.Service)).items.map(({ metadata: { uid } }) => uid).sort()).toEqual(services);
  const made = (await writesSince(0)).filter(({ responseStatus }) => responseStatus?.code === 201);
  const twice = [...Map.groupBy(made, ({ objectRef }) => JSON.stringify(objectRef))].filter(
    ([, all]) => all.length > 1,
  );
  expect(twice).toEqual([]);
}, 120_000);

test('A manager without the flag waits for those that share the tenants, and they for it', async () => {
  const sharing = replicas.filter(({ process: { running } }) => running);
  const alone = await start('manager-e', '--shards=false');
  await alone.process.until(() => Promise.resolve(alone.proxy.accepted > 0), 30_000);
  await expectShared(
    10,
    20_000,
    sharing.map(({ user }) => user),
  );
  for (const { process } of sharing) await process.terminate();
  expect(await claims()).toEqual([]);
  await expectShared(11, takeOverMs, [alone.user]);
  const next = await start('manager-f');
  await next.process.until(() => Promise.resolve(next.proxy.accepted > 0), 30_000);
  await expectShared(12, 20_000, [alone.user]);
  await alone.process.terminate();
  await expectShared(13, takeOverMs, [next.user]);
}, 120_000);
