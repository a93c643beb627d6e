import { randomInt } from 'node:crypto';
import { setImmediate } from 'node:timers/promises';
import { afterEach, beforeEach, expect, test } from '@jest/globals';

import { kinds } from '../../../api/core/kinds.ts';
import type { Deployment } from '../../../api/core/kinds.ts';
import { dataKeys, labels, tenantObjects } from '../../../api/names.ts';
import { issue } from '../../../kubeadm/pki/issue.ts';
import type { KeyPair } from '../../../kubeadm/pki/key-pair.ts';
import { lifetimeFrom } from '../../../kubeadm/pki/lifetime.ts';
import { probe } from '../../../tenants/probe.ts';
import { FakeCluster } from '../../../testing/fake/fake-cluster.ts';
import { freePorts } from '../../../testing/servers/free-ports.ts';
import { serverCa } from '../../../testing/servers/server-certificates.ts';
import { once } from '../../../testing/worlds/external-management.ts';
import { HostedTenants } from './hosted-tenants.ts';

const key = { namespace: 'fleet', name: 'tenant' };
const host = `127.${randomInt(1, 255)}.${randomInt(0, 255)}.7`;

let cluster: FakeCluster;
let hosted: HostedTenants;
let ca: KeyPair;
let port: number;
let failures: unknown[];

const base64 = (text: string): string => Buffer.from(text).toString('base64');
const metadata = (name: string) => ({ ...key, name, labels: { [labels.name]: key.name } });

beforeEach(async () => {
  [port = 0] = await freePorts(1);
  ca = await serverCa('kubernetes');
  cluster = new FakeCluster();
  failures = [];
  hosted = new HostedTenants(cluster.admin, (error) => failures.push(error));
  const life = { algorithm: 'ECDSA-P256', lifetime: lifetimeFrom(new Date(), 86_400_000) } as const;
  const server = await issue({ commonName: 'kube-apiserver', usages: ['serverAuth'], ipAddresses: [host] }, ca, life);
  const names = tenantObjects(key.name);
  const secret = (name: string, data: Readonly<Record<string, string>>) => ({
    apiVersion: 'v1',
    kind: 'Secret',
    metadata: metadata(name),
    data,
  });
  const { certificate, key: keyName } = dataKeys.apiServer;
  await cluster.seed(
    kinds.Secret,
    secret(names.apiServer, { [certificate]: base64(server.certificate), [keyName]: base64(server.key) }),
  );
  await cluster.seed(kinds.Secret, secret(names.ca, { 'ca.crt': base64(ca.certificate) }));
  await cluster.seed(kinds.Service, {
    ...{ apiVersion: 'v1', kind: 'Service', metadata: metadata(names.service) },
    spec: { clusterIP: host, ports: [{ port }] },
  });
  await hosted.start();
  await cluster.seed(kinds.Deployment, {
    ...{ apiVersion: 'apps/v1', kind: 'Deployment', metadata: metadata(key.name) },
    spec: {
      replicas: 2,
      selector: { matchLabels: { app: 'tenant' } },
      template: {
        metadata: { labels: { app: 'tenant' } },
        spec: { containers: [{ name: 'kube-apiserver', image: 'registry/kube-apiserver:v1.36.3' }] },
      },
    },
  });
});

afterEach(async () => {
  await hosted.stop();
  expect(failures).toEqual([]);
});

const readyIs = (count: number): Promise<Deployment | undefined> =>
  once<Deployment>(cluster.admin, kinds.Deployment, {
    key,
    is: (found) => (found?.status?.readyReplicas ?? -1) === count,
  });
const isUp = async (): Promise<boolean> =>
  (await probe({ server: `https://${host}:${port}`, ca: ca.certificate }, 5000)).isUp;

test("A Deployment's API server serves at the address of its Service before the Deployment is ready", async () => {
  const found = await readyIs(2);
  expect(found?.status).toMatchObject({ observedGeneration: 1, updatedReplicas: 2, availableReplicas: 2 });
  expect(await isUp()).toBe(true);
  expect(hosted.counts()).toMatchObject({ asked: { probe: 1, line: 0, call: 0 } });
});

test('One on a node that died does not serve, and its Deployment says so, until it runs elsewhere', async () => {
  await readyIs(2);
  await hosted.setDown(['fleet/tenant'], true);
  expect((await cluster.admin.get(kinds.Deployment, key))?.status?.readyReplicas).toBe(0);
  expect(await isUp()).toBe(false);
  await hosted.setDown(['fleet/tenant'], false);
  expect((await cluster.admin.get(kinds.Deployment, key))?.status?.readyReplicas).toBe(2);
  expect(await isUp()).toBe(true);
});

test('One whose Deployment is deleted ends', async () => {
  await readyIs(2);
  expect(hosted.counts().connections).toHaveLength(1);
  await cluster.admin.delete(kinds.Deployment, key);
  while (await isUp()) await setImmediate();
  expect(hosted.counts().connections).toHaveLength(0);
});
