import { expect, test } from '@jest/globals';
import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { connect } from 'node:tls';
import { parse, parseAllDocuments } from 'yaml';
import { kinds } from '../../../api/core/kinds.ts';
import type { StatefulSet } from '../../../api/core/kinds.ts';
import type { DataStore } from '../../../api/steward/v1alpha1/data-store.ts';
import { resolveTools } from '../../../e2e/tools/resolve.ts';
import { systemClock } from '../../../runtime/clock.ts';
import { silent } from '../../../runtime/observe/logger.ts';
import { FakeCluster } from '../../../testing/fake/fake-cluster.ts';
import { patient } from '../../../testing/patient.ts';
import { freePorts } from '../../../testing/servers/free-ports.ts';
import { serverFolder } from '../../../testing/servers/server-folder.ts';
import { startServerProcess } from '../../../testing/servers/server-process.ts';
import type { Secrets } from '../../bootstrap/write-secrets.ts';
import type { ClientTls } from '../../driver.ts';
import { secretReader } from '../../secret-reader.ts';
import { bootstrapEtcd, writeEtcdSecrets } from './bootstrap.ts';
import { etcdDriver } from '../driver.ts';

const namespace = 'steward-system';
const manifests = join(import.meta.dirname, '../../../config/datastores/etcd');

/** The arguments of the shipped StatefulSet, with this machine's ports and folders. */
async function memberArguments(folder: string, ports: Readonly<Record<string, number>>): Promise<readonly string[]> {
  const set = parse(await readFile(join(manifests, 'stateful-set.yaml'), 'utf8')) as StatefulSet;
  const container = set.spec?.template.spec?.containers[0];
  expect(container?.command).toEqual(['etcd']);
  const values: Readonly<Record<string, string>> = {
    POD_NAME: 'etcd-0',
    POD_NAMESPACE: namespace,
    INITIAL_CLUSTER: container?.env?.find(({ name }) => name === 'INITIAL_CLUSTER')?.value ?? '',
  };
  return (container?.args ?? []).map((argument) =>
    argument
      .replaceAll(/\$\((\w+)\)/g, (_, name: string) => values[name] ?? '')
      .replaceAll(/0\.0\.0\.0|etcd-0\.etcd\.steward-system\.svc\.cluster\.local/g, '127.0.0.1')
      .replaceAll(/:(2379|2380|2381)\b/g, (_, port: string) => `:${ports[port] ?? 0}`)
      .replaceAll(/\/(?:var\/lib|etc)\/etcd/g, folder),
  );
}

async function writeMounts(folder: string, secrets: Secrets): Promise<void> {
  for (const [mount, secret] of [
    ['server', 'etcd-server-certs'],
    ['peer', 'etcd-peer-certs'],
  ] as const) {
    await mkdir(join(folder, mount), { recursive: true });
    for (const [file, text] of Object.entries(secrets.get(secret) ?? {}))
      await writeFile(join(folder, mount, file), text);
  }
}

/** Says why a server closes a TLS connection of this client, or undefined when it goes on for a second. */
async function refusalOf(port: number, tls: ClientTls, ca: string): Promise<string | undefined> {
  const pair = { cert: tls.certificate, key: tls.key };
  // A gRPC server closes a connection whose client does not offer HTTP/2.
  const socket = connect({ host: '127.0.0.1', port, ca, ...pair, servername: 'localhost', ALPNProtocols: ['h2'] });
  try {
    return await new Promise((resolve) => {
      socket.setTimeout(1000, () => {
        resolve(undefined);
      });
      socket.on('error', (error: Error) => {
        resolve(error.message);
      });
      socket.on('close', () => {
        resolve('closed');
      });
    });
  } finally {
    socket.destroy();
  }
}

test('the quick-start etcd with the shipped arguments becomes a datastore that the documented DataStore describes', async () => {
  await using folder = await serverFolder();
  const cluster = new FakeCluster();
  const [client = 0, peer = 0, metrics = 0] = await freePorts(3);
  const options = {
    plan: { namespace, members: 1, clusterDomain: 'cluster.local' },
    cluster,
    clock: systemClock,
    log: silent,
    signal: AbortSignal.timeout(patient(30_000)),
    endpoints: [`127.0.0.1:${client}`],
  };
  const secrets = await writeEtcdSecrets(options);
  await writeMounts(folder.path, secrets);
  // The command waits for the members: it may well come first.
  const bootstrapping = bootstrapEtcd(options);
  const { etcd } = await resolveTools(['etcd']);
  const programArguments = await memberArguments(folder.path, { 2379: client, 2380: peer, 2381: metrics });
  const member = await startServerProcess({ program: etcd, programArguments, log: join(folder.path, 'log') });
  try {
    await Promise.race([bootstrapping, member.until(() => Promise.resolve(false), 30_000)]);
    await bootstrapEtcd(options);
    const [document] = parseAllDocuments(await readFile(join(manifests, 'data-store.yaml'), 'utf8'));
    const dataStore = document?.toJS() as DataStore;
    const store = { ...dataStore, spec: { ...dataStore.spec, endpoints: options.endpoints } };
    const config = await etcdDriver.configure(
      store,
      secretReader((key) => cluster.get(kinds.Secret, key)),
    );
    await using session = await etcdDriver.open(config, options.signal);
    expect(await session.ping()).toMatchObject({ supported: true });
    const tenancy = { schema: 'a', user: 'a', owner: 'uid' };
    await session.ensure(tenancy);
    const tls = await etcdDriver.clientTls(config, tenancy, undefined, new Date());
    if (tls === undefined) throw new Error('etcd uses TLS');
    expect(await refusalOf(client, tls, tls.ca)).toBeUndefined();
    expect(await refusalOf(peer, tls, secrets.get('etcd-peer-ca')?.['ca.crt'] ?? '')).toMatch(
      /alert|closed|ECONNRESET/,
    );
    const probe = await fetch(`http://127.0.0.1:${metrics}/readyz`);
    expect(probe.status).toBe(200);
  } finally {
    await member.kill();
  }
}, 60_000);
