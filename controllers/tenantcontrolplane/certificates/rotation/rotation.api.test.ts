import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { webcrypto } from 'node:crypto';
import { once } from 'node:events';
import { request } from 'node:https';
import type { IncomingMessage } from 'node:http';
import 'reflect-metadata';
import { Pkcs10CertificateRequestGenerator } from '@peculiar/x509';
import { kinds } from '../../../../api/core/kinds.ts';
import type { KindRef, Resource } from '../../../../api/meta.ts';
import { annotations } from '../../../../api/names.ts';
import { parseKubeconfig } from '../../../../kubeadm/kubeconfig.ts';
import type { Cluster } from '../../../../runtime/client/cluster.ts';
import { openCluster } from '../../../../runtime/client/http-cluster.ts';
import { patient } from '../../../../testing/patient.ts';
import { isTrusted, rotationOf, secretValues } from '../../../../testing/worlds/rotating-tenant.ts';
import { startEtcd } from '../../../../testing/servers/etcd-server.ts';
import type { EtcdServer } from '../../../../testing/servers/etcd-server.ts';
import { startProcessPod } from '../../../../testing/servers/process-pod.ts';
import type { ProcessPod } from '../../../../testing/servers/process-pod.ts';
import { serviceAccountToken } from '../../../../testing/servers/service-account-token.ts';
import { startTcpProxy } from '../../../../testing/servers/tcp-proxy.ts';
import type { TcpProxy } from '../../../../testing/servers/tcp-proxy.ts';
import { TenantWorld } from '../../../../testing/worlds/tenant-world.ts';

/** For how long controllers are waited for, in milliseconds. */
const patienceMs = patient(60_000);

/** A client of the tenant's API server. */
interface Client {
  readonly ca: string;
  readonly cert?: string;
  readonly key?: string;
  readonly token?: string;
}

let etcd: EtcdServer;
let service: TcpProxy;
let world: TenantWorld;
let pod: ProcessPod | undefined;
/** The pod template that the processes were started from. */
let template = '';
const clients: Cluster[] = [];

/** What a call comes to: `known`, `unknown` to the API server, or `distrusts` it. */
async function call({ ca, cert, key, token }: Client): Promise<string> {
  const headers = token === undefined ? {} : { authorization: `Bearer ${token}` };
  const tls = { ca, cert, key };
  const asked = request(`https://127.0.0.1:${service.port}/api/v1/secrets`, { ...tls, headers, agent: false });
  asked.end();
  try {
    const [answer] = (await once(asked, 'response')) as [IncomingMessage];
    answer.resume();
    // That it may not read Secrets says that it is known.
    return answer.statusCode === 401 ? 'unknown' : 'known';
  } catch (error) {
    const { code = '' } = error as NodeJS.ErrnoException;
    return /CERT|SIGNATURE|ISSUER/.test(code) ? 'distrusts' : `failed: ${String(error)}`;
  }
}

/** The administrator with the kubeconfig that is in the Secret now. */
async function administrator(): Promise<Client> {
  const content = (await secretValues(world, 'admin-kubeconfig'))['super-admin.conf'] ?? '';
  const { ca, client } = parseKubeconfig(content);
  return { ca, cert: client.certificate, key: client.key };
}

/** Reads until there is something: controllers of the tenant make it in their own time. */
async function eventually<T>(read: () => Promise<T | undefined>, what: string): Promise<T> {
  const end = performance.now() + patienceMs;
  while (performance.now() < end) {
    const found = await read();
    if (found !== undefined) return found;
  }
  throw new Error(`there is no ${what} after ${patienceMs} ms`);
}

/** A pod that has just been started in the tenant: it reads CAs and token now. */
async function podInTenant(): Promise<Client> {
  const admin = await administrator();
  const local = { url: `https://127.0.0.1:${service.port}`, ca: admin.ca, kubeconfigPath: '' };
  const server = { ...local, adminCertificate: admin.cert ?? '', adminKey: admin.key ?? '' };
  const account = { namespace: 'kube-system', name: 'default' };
  await eventually(() => access().get(kinds.ServiceAccount, account), 'ServiceAccount');
  const token = await serviceAccountToken(server, account);
  const authorities = { namespace: 'kube-system', name: 'kube-root-ca.crt' };
  const published = await eventually(() => access().get(kinds.ConfigMap, authorities), 'kube-root-ca.crt');
  return { ca: published.data?.['ca.crt'] ?? '', token };
}

function access(): Cluster {
  const found = clients.at(-1);
  if (found === undefined) throw new Error('nobody entered the tenant yet');
  return found;
}

/** Everybody who must be served whichever pod answers. */
const mustBeServed = new Map<string, Client>();
const cutOff: string[] = [];

async function lookWhoIsCutOff(when: string): Promise<void> {
  const everybody = new Map(mustBeServed).set('whoever reads the kubeconfig now', await administrator());
  for (const [who, client] of everybody) {
    const seen = await call(client);
    if (seen !== 'known') cutOff.push(`${when}: ${who}: ${seen}`);
  }
}

/** Replaces the pod as a Deployment does: while both are there either of them may answer. */
async function roll(): Promise<void> {
  const deployment = await world.deployment();
  if (deployment === undefined) throw new Error('there is no Deployment');
  const { ca, cert = '', key = '' } = await administrator();
  const next = await startProcessPod({
    cluster: world.cluster.admin,
    deployment,
    etcd: etcd.endpoints,
    reader: { ca, cert, key },
  });
  if (pod !== undefined) {
    await lookWhoIsCutOff('the old pod');
    service.turnTo(next.port);
    await lookWhoIsCutOff('the new pod');
    await pod[Symbol.asyncDispose]();
    service.cut();
  }
  service.turnTo(next.port);
  pod = next;
  template = JSON.stringify(deployment.spec?.template);
  await world.startPods();
}

/** Works until the phase is reached. */
async function until(phase: string | undefined): Promise<void> {
  const end = performance.now() + patienceMs;
  while (performance.now() < end) {
    await world.reconcile();
    if (JSON.stringify((await world.deployment())?.spec?.template) !== template) await roll();
    else if ((await world.state()) === 'Ready' && (await rotationOf(world))?.phase === phase) return;
  }
  throw new Error(
    `${phase ?? 'Ready'} is not reached: ${await world.condition('Ready')} ${JSON.stringify(await rotationOf(world))}`,
  );
}

async function operate(operation: string, phase: string): Promise<void> {
  await world.change({ metadata: { annotations: { [annotations.operation]: operation } } });
  await until(phase);
}

const requests: KindRef<Resource & { readonly status?: { readonly certificate?: string } }> = {
  group: 'certificates.k8s.io',
  version: 'v1',
  kind: 'CertificateSigningRequest',
  plural: 'certificatesigningrequests',
  namespaced: false,
};

/** Approves a request, as people do with kubectl. */
async function approve(name: string): Promise<void> {
  const { ca, cert, key } = await administrator();
  const path = `/apis/certificates.k8s.io/v1/certificatesigningrequests/${name}/approval`;
  const asked = request(`https://127.0.0.1:${service.port}${path}`, {
    method: 'PATCH',
    agent: false,
    headers: { 'content-type': 'application/merge-patch+json' },
    ca,
    cert,
    key,
  });
  const condition = { type: 'Approved', status: 'True', reason: 'Test', message: 'a test' };
  asked.end(JSON.stringify({ status: { conditions: [condition] } }));
  const [answer] = (await once(asked, 'response')) as [IncomingMessage];
  answer.resume();
  expect(answer.statusCode).toBe(200);
}

/** A client whose certificate kube-controller-manager has signed, as those of kubelets. */
async function signedByControllerManager(name: string): Promise<Client> {
  const algorithm = { name: 'ECDSA', namedCurve: 'P-256', hash: 'SHA-256' };
  const keys = await webcrypto.subtle.generateKey(algorithm, true, ['sign', 'verify']);
  const made = await Pkcs10CertificateRequestGenerator.create({
    name: `CN=${name}`,
    keys,
    signingAlgorithm: algorithm,
  });
  const key = Buffer.from(await webcrypto.subtle.exportKey('pkcs8', keys.privateKey)).toString('base64');
  await access().create(requests, {
    apiVersion: 'certificates.k8s.io/v1',
    kind: 'CertificateSigningRequest',
    metadata: { name },
    spec: {
      request: Buffer.from(made.toString('pem')).toString('base64'),
      signerName: 'kubernetes.io/kube-apiserver-client',
      usages: ['client auth'],
    },
  });
  await approve(name);
  const read = async () => (await access().get(requests, { name }))?.status?.certificate;
  const certificate = await eventually(read, 'certificate');
  const pem = `-----BEGIN PRIVATE KEY-----\n${key}\n-----END PRIVATE KEY-----\n`;
  return { ca: (await administrator()).ca, cert: Buffer.from(certificate, 'base64').toString(), key: pem };
}

beforeAll(async () => {
  etcd = await startEtcd();
  service = await startTcpProxy(1);
  world = new TenantWorld({
    start: new Date(),
    openTenant: (connection) => {
      const opened = openCluster(
        { ...connection, dial: { host: '127.0.0.1', port: service.port } },
        { name: 'tenant' },
      );
      clients.push(opened);
      return opened;
    },
  });
  world.podsStart = false;
  await world.create({
    deployment: { replicas: 1 },
    networkProfile: { address: '127.0.0.1', port: service.port },
  });
  await until(undefined);
}, 180_000);

afterAll(async () => {
  // The pool has closed the others.
  await clients.at(-1)?.close();
  await pod?.[Symbol.asyncDispose]();
  await service[Symbol.asyncDispose]();
  await etcd.stop();
});

const count = (bundle: string): number => bundle.match(/BEGIN CERTIFICATE/g)?.length ?? 0;

describe('Real kube-apiservers and kube-controller-managers', () => {
  test('serve old clients until a rotation is completed, and updated clients without interruption', async () => {
    const [oldAdmin, oldPod] = [await administrator(), await podInTenant()];
    const oldKubelet = await signedByControllerManager('kubelet-of-before');
    mustBeServed.set('an old administrator', oldAdmin).set('an old pod', oldPod).set('an old kubelet', oldKubelet);
    await lookWhoIsCutOff('before');

    await operate('rotate-credentials-start', 'Prepared');
    const [newAdmin, newPod] = [await administrator(), await podInTenant()];
    const newKubelet = await signedByControllerManager('kubelet-of-later');
    expect(isTrusted(newKubelet.cert ?? '', oldAdmin.ca)).toBe(false);
    expect(isTrusted(newAdmin.cert ?? '', oldAdmin.ca)).toBe(false);
    expect(count(newPod.ca)).toBe(2);
    mustBeServed.set('a new administrator', newAdmin).set('a new pod', newPod).set('a new kubelet', newKubelet);
    await lookWhoIsCutOff('Prepared');
    expect(cutOff).toEqual([]);

    for (const who of ['an old administrator', 'an old pod', 'an old kubelet']) mustBeServed.delete(who);
    await operate('rotate-credentials-complete', 'Completed');
    await lookWhoIsCutOff('Completed');
    expect(cutOff).toEqual([]);

    expect(await call(oldAdmin)).toBe('distrusts');
    expect(await call(oldPod)).toBe('distrusts');
    // Even where they trust the server by now: it does not know them anymore.
    expect(await call({ ...oldAdmin, ca: newAdmin.ca })).toBe('unknown');
    expect(await call({ ...oldPod, ca: newAdmin.ca })).toBe('unknown');
    expect(await call({ ...oldKubelet, ca: newAdmin.ca })).toBe('unknown');
    const isAlone = async () => (count((await podInTenant()).ca) === 1 ? true : undefined);
    expect(await eventually(isAlone, 'ConfigMap with the new authority alone')).toBe(true);
  }, 300_000);
});
