import { randomInt } from 'node:crypto';
import { readdir, readFile } from 'node:fs/promises';
import path from 'node:path';

import { KubernetesClient } from '../../../e2e/cluster/kubernetes-client.ts';
import { startApiServer } from '../../../testing/servers/api-server.ts';
import type { ApiServer } from '../../../testing/servers/api-server.ts';
import { startGarbageCollector } from '../../../testing/servers/garbage-collector.ts';
import { serverFolder } from '../../../testing/servers/server-folder.ts';

/** A management cluster without nodes: real kube-apiserver, etcd and garbage collector, with Steward's definitions, rights and webhooks. */
export interface ScaleManagement extends AsyncDisposable {
  readonly server: ApiServer;
  readonly client: KubernetesClient;
  /** For files of this run. */
  readonly folder: string;
}

const config = path.join(import.meta.dirname, '../../../config');

/** Where the manager would run. */
export const managerNamespace = 'steward-system';

/** Its garbage collector waits for its own limit of requests otherwise, which is no matter of Steward. */
const collectorFlags = ['--kube-api-qps=1000', '--kube-api-burst=2000'];

/** Starts it. Addresses of Services are addresses of this host that only this host reaches. */
export async function startScaleManagement(): Promise<ScaleManagement> {
  await using started = new AsyncDisposableStack();
  const folder = started.use(await serverFolder());
  const services = `127.${randomInt(1, 255)}.0.0/16`;
  const server = started.use(await startApiServer({ flags: { 'service-cluster-ip-range': services } }));
  const client = new KubernetesClient(server.kubeconfig);
  await client.apply([{ apiVersion: 'v1', kind: 'Namespace', metadata: { name: managerNamespace } }]);
  for (const manifests of await installed()) await client.apply(manifests);
  await client.apply([apiServerAddress]);
  const collector = await startGarbageCollector(server, folder.path, collectorFlags);
  started.defer(() => collector.kill());
  const all = started.move();
  return { server, client, folder: folder.path, [Symbol.asyncDispose]: () => all.disposeAsync() };
}

/** What `config/default` installs, besides the Deployment of the manager. */
async function installed(): Promise<readonly string[]> {
  const definitions = (await readdir(path.join(config, 'crd'))).filter((name) => name !== 'kustomization.yaml');
  const files = [
    ...definitions.map((name) => `crd/${name}`),
    ...['rbac/role.yaml', 'rbac/bindings.yaml', 'webhook/webhooks.yaml'],
  ];
  return Promise.all(files.map((file) => readFile(path.join(config, file), 'utf8')));
}

/** An API server keeps its own address there, unless it is a loopback address as here. */
const apiServerAddress = {
  apiVersion: 'discovery.k8s.io/v1',
  kind: 'EndpointSlice',
  metadata: { name: 'kubernetes', namespace: 'default', labels: { 'kubernetes.io/service-name': 'kubernetes' } },
  addressType: 'IPv4',
  endpoints: [{ addresses: ['192.0.2.250'], conditions: { ready: true } }],
  ports: [{ name: 'https', port: 6443, protocol: 'TCP' }],
};
