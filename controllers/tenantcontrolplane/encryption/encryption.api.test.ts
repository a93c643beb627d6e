import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { kinds } from '../../../api/core/kinds.ts';
import type { Secret } from '../../../api/core/kinds.ts';
import type { Encryption } from '../../../api/embedded/encryption.ts';
import type { KindRef } from '../../../api/meta.ts';
import { parseKubeconfig } from '../../../kubeadm/kubeconfig.ts';
import type { Cluster } from '../../../runtime/client/cluster.ts';
import { openCluster } from '../../../runtime/client/http-cluster.ts';
import { parseKubeconfig as connectionOf } from '../../../runtime/client/kubeconfig.ts';
import { patient } from '../../../testing/patient.ts';
import { startEtcd } from '../../../testing/servers/etcd-server.ts';
import type { EtcdServer } from '../../../testing/servers/etcd-server.ts';
import { startKmsPlugin } from '../../../testing/servers/kms/kms-plugin.ts';
import type { KmsPlugin } from '../../../testing/servers/kms/kms-plugin.ts';
import { startProcessPod } from '../../../testing/servers/process-pod.ts';
import type { ProcessPod } from '../../../testing/servers/process-pod.ts';
import { serverFolder } from '../../../testing/servers/server-folder.ts';
import { startTcpProxy } from '../../../testing/servers/tcp-proxy.ts';
import type { TcpProxy } from '../../../testing/servers/tcp-proxy.ts';
import { secretValues } from '../../../testing/worlds/rotating-tenant.ts';
import { TenantWorld } from '../../../testing/worlds/tenant-world.ts';

/** For how long a step is waited for, in milliseconds. */
const patienceMs = 240_000;

const plaintext = 'a-secret-that-nobody-may-find';
const plugin = { name: 'plugin', image: 'example.com/kms-plugin' };

let etcd: EtcdServer;
let service: TcpProxy;
let world: TenantWorld;
let pod: ProcessPod | undefined;
let folder: Awaited<ReturnType<typeof serverFolder>>;
let kms: KmsPlugin;
/** The pod template that the processes were started from. */
let template = '';
const clients: Cluster[] = [];
/** What one of two pods could not read of what the other one wrote. */
const unread: string[] = [];
let writes = 0;

async function connect(port: number): Promise<Cluster> {
  const content = (await secretValues(world, 'admin-kubeconfig'))['super-admin.conf'] ?? '';
  return openCluster({ ...connectionOf(content), dial: { host: '127.0.0.1', port } }, { name: 'tenant' });
}

const at = (name: string) => ({ namespace: 'default', name });

async function write(client: Cluster, kind: KindRef<Secret>, name: string): Promise<void> {
  const value = Buffer.from(plaintext).toString('base64');
  const content = kind.kind === 'Secret' ? { data: { value } } : { data: { value: plaintext } };
  await client.create(kind, { apiVersion: 'v1', kind: kind.kind, metadata: at(name), ...content });
}

/** Each of two pods reads what the other one writes, as clients do that reach either. */
async function crosswise(one: number, other: number): Promise<void> {
  for (const [from, to] of [
    [one, other],
    [other, one],
  ] as const) {
    await using reader = disposable(await connect(to));
    await using writer = disposable(await connect(from));
    writes += 1;
    await write(writer.client, kinds.Secret, `crosswise-${writes}`);
    const found = await reader.client.get(kinds.Secret, at(`crosswise-${writes}`)).catch(String);
    if (typeof found === 'string' || found === undefined) unread.push(`crosswise-${writes}: ${found}`);
    const { items } = await reader.client.list(kinds.Secret).catch((error: unknown) => {
      unread.push(String(error));
      return { items: [] };
    });
    if (items.length < writes) unread.push(`only ${items.length} Secrets`);
  }
}

const disposable = (client: Cluster) => ({ client, [Symbol.asyncDispose]: () => client.close() });

/** Replaces the pod as a Deployment does: while both are there, either of them may answer. */
async function roll(): Promise<void> {
  const deployment = await world.deployment();
  if (deployment === undefined) throw new Error('there is no Deployment');
  const content = (await secretValues(world, 'admin-kubeconfig'))['super-admin.conf'] ?? '';
  const { ca, client } = parseKubeconfig(content);
  const next = await startProcessPod({
    cluster: world.cluster.admin,
    deployment,
    etcd: etcd.endpoints,
    reader: { ca, cert: client.certificate, key: client.key },
    kmsFolder: folder.path,
  });
  if (pod !== undefined) {
    await crosswise(pod.port, next.port);
    service.turnTo(next.port);
    await pod[Symbol.asyncDispose]();
    service.cut();
  }
  service.turnTo(next.port);
  pod = next;
  template = JSON.stringify(deployment.spec?.template);
  await world.startPods();
}

/** A pod of the same template, which has to read everything again. */
async function restart(): Promise<void> {
  await pod?.[Symbol.asyncDispose]();
  pod = undefined;
  await roll();
}

/** Works until everything is as the spec says. */
async function settled(): Promise<void> {
  const end = performance.now() + patient(patienceMs);
  while (performance.now() < end) {
    await world.reconcile();
    const { status, metadata } = await world.read();
    if (JSON.stringify((await world.deployment())?.spec?.template) !== template) await roll();
    else if (
      status?.observedGeneration === metadata.generation &&
      (await world.state()) === 'Ready' &&
      (status.encryption?.step ?? 'Done') === 'Done'
    ) {
      // Configurations with former keys are gone when nothing else is left to do.
      await world.reconcile();
      return;
    }
  }
  throw new Error(
    `not settled: ${await world.condition('Ready')} ${JSON.stringify((await world.read()).status?.encryption)}`,
  );
}

async function want(encryption: Encryption | null): Promise<void> {
  await world.change({ spec: { kubernetes: { encryption } } });
  await settled();
}

/** The stored bytes of a resource's objects, by the names of the objects. */
async function stored(resource: string): Promise<ReadonlyMap<string, Buffer>> {
  const { kvs = [] } = JSON.parse(await etcd.control('get', '/', '--prefix', '-w', 'json')) as {
    readonly kvs?: readonly { readonly key: string; readonly value: string }[];
  };
  const all = kvs.map(
    ({ key, value }) => [Buffer.from(key, 'base64').toString(), Buffer.from(value, 'base64')] as const,
  );
  return new Map(all.filter(([key]) => key.includes(`/${resource}/`)));
}

/** What the stored values of a resource begin with, each once, without what is random. */
async function prefixes(resource: string): Promise<readonly string[]> {
  const all = [...(await stored(resource)).values()].map((value) => value.toString('latin1'));
  return [
    ...new Set(all.map((value) => /^(?:k8s:enc:(?:[a-z0-9]+:){2}[a-z0-9-]+|k8s)/.exec(value)?.[0] ?? '?')),
  ].sort();
}

async function isVisible(resource: string): Promise<boolean> {
  return [...(await stored(resource)).values()].some((value) => value.includes(plaintext));
}

/** How many Secrets can be read with their content. */
async function readable(): Promise<number> {
  await using reader = disposable(await connect(service.port));
  const { items } = await reader.client.list(kinds.Secret, { namespace: 'default' });
  return items.filter(({ data }) => Buffer.from(data?.value ?? '', 'base64').toString() === plaintext).length;
}

beforeAll(async () => {
  etcd = await startEtcd();
  service = await startTcpProxy(1);
  folder = await serverFolder();
  kms = await startKmsPlugin(`${folder.path}/test.sock`);
  world = new TenantWorld({
    start: new Date(),
    openTenant: (connection) => {
      const dial = { host: '127.0.0.1', port: service.port };
      const opened = openCluster({ ...connection, dial }, { name: 'tenant' });
      clients.push(opened);
      return opened;
    },
  });
  world.podsStart = false;
  await world.create({
    deployment: { replicas: 1, additionalContainers: [plugin] },
    networkProfile: { address: '127.0.0.1', port: service.port },
  });
  await settled();
  await using writer = disposable(await connect(service.port));
  for (let index = 0; index < 130; index += 1) await write(writer.client, kinds.Secret, `secret-${index}`);
  await write(writer.client, kinds.ConfigMap, 'config');
}, 300_000);

afterAll(async () => {
  // The pool has closed the others.
  await clients.at(-1)?.close();
  await pod?.[Symbol.asyncDispose]();
  await kms[Symbol.asyncDispose]();
  await folder[Symbol.asyncDispose]();
  await service[Symbol.asyncDispose]();
  await etcd.stop();
});

describe('A real kube-apiserver', () => {
  test('stores everything encrypted, with one key after the other, and nothing afterwards', async () => {
    expect(await prefixes('secrets')).toEqual(['k8s']);
    expect(await isVisible('secrets')).toBe(true);

    await want({ resources: ['secrets'], provider: 'secretbox' });
    expect(await prefixes('secrets')).toEqual(['k8s:enc:secretbox:v1:generated-1']);
    expect(await isVisible('secrets')).toBe(false);
    expect(await prefixes('configmaps')).toEqual(['k8s']);
    expect(await readable()).toBe(130 + writes);

    await want({ resources: ['secrets'], provider: 'secretbox', keyGeneration: 2 });
    expect(await prefixes('secrets')).toEqual(['k8s:enc:secretbox:v1:generated-2']);
    expect(Object.values(await secretValues(world, 'encryption')).join()).not.toContain('generated-1');
    expect(await readable()).toBe(130 + writes);

    await want({ resources: ['configmaps', 'secrets'], provider: 'aescbc', keyGeneration: 1 });
    expect(await prefixes('secrets')).toEqual(['k8s:enc:aescbc:v1:generated-1']);
    expect(await prefixes('configmaps')).toEqual(['k8s:enc:aescbc:v1:generated-1']);

    const withPlugin: Encryption = {
      resources: ['configmaps', 'secrets'],
      provider: 'kms',
      keyGeneration: 1,
      kms: { name: 'test', container: 'plugin' },
    };
    await want(withPlugin);
    expect(await prefixes('secrets')).toEqual(['k8s:enc:kms:v2:test-secrets']);
    expect(await prefixes('configmaps')).toEqual(['k8s:enc:kms:v2:test-configmaps']);
    expect(await isVisible('secrets')).toBe(false);
    expect(await readable()).toBe(130 + writes);

    kms.rotate();
    await want({ ...withPlugin, keyGeneration: 2 });
    // Whoever still needed the old key could not read anymore.
    kms.forgetOldKeys();
    await restart();
    expect(await readable()).toBe(130 + writes);

    await want(null);
    expect(await prefixes('secrets')).toEqual(['k8s']);
    expect(await isVisible('secrets')).toBe(true);
    expect(await readable()).toBe(130 + writes);
    expect(Object.keys(await secretValues(world, 'encryption'))).toEqual(['state.json']);
    expect(unread).toEqual([]);
  }, 900_000);
});
