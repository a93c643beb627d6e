import { Agent, request } from 'node:https';
import type { RequestOptions } from 'node:https';
import { setTimeout as pause } from 'node:timers/promises';

import { KubernetesClient } from '../../e2e/cluster/kubernetes-client.ts';
import type { AttackResult } from './attack-result.ts';
import type { CpuBudget } from './cpu-budget.ts';
import { floodNamespace } from './flood-writes.ts';

/** Watches that are open at once. */
const watches = 200;

/** Each is reopened after so many seconds, and sent the whole state again. */
const lastsSeconds = 5;

/** Meanwhile something changes so many times a second. */
const changesPerSecond = 10;

/** Everything that such a tenant has. */
const collections = [
  ...['configmaps', 'secrets', 'events', 'pods', 'namespaces', 'serviceaccounts', 'nodes', 'services', 'endpoints'].map(
    (plural) => `/api/v1/${plural}`,
  ),
  ...['deployments', 'daemonsets', 'replicasets'].map((plural) => `/apis/apps/v1/${plural}`),
  ...['clusterroles', 'clusterrolebindings', 'roles', 'rolebindings'].map(
    (plural) => `/apis/rbac.authorization.k8s.io/v1/${plural}`,
  ),
  '/apis/coordination.k8s.io/v1/leases',
  '/apis/discovery.k8s.io/v1/endpointslices',
  '/apis/apiregistration.k8s.io/v1/apiservices',
];

/** Watches all collections 200 times, each watch again and again from the state of the datastore, as far as the budget allows. */
export async function stormWatches(
  { kubeconfig, ms }: { readonly kubeconfig: string; readonly ms: number },
  budget: CpuBudget,
): Promise<AttackResult> {
  const { config, connection } = new KubernetesClient(kubeconfig);
  const access: RequestOptions = {};
  await config.applyToHTTPSOptions(access);
  const agent = new Agent({ ...pick(access), keepAlive: true, maxSockets: Infinity });
  const server = config.getCurrentCluster()?.server ?? '';
  const end = Date.now() + ms;
  const failures: string[] = [];
  let accepted = 0;
  // All of them at once would take longer than they last.
  const watchers = Array.from({ length: watches }, async (_, at) => {
    const path = collections[at % collections.length] ?? '';
    await pause((at * lastsSeconds * 1000) / watches);
    while (Date.now() < end) {
      await budget.keep();
      try {
        await watchOnce(new URL(`${path}?${query.toString()}`, server), agent);
        accepted += 1;
      } catch (error) {
        failures.push((error as Error).message);
        await pause(1000);
      }
    }
  });
  const change = async (): Promise<void> => {
    const metadata = { name: 'watched', namespace: floodNamespace };
    const path = `/api/v1/namespaces/${floodNamespace}/configmaps/watched`;
    for (let count = 0; Date.now() < end; count += 1) {
      const body = { apiVersion: 'v1', kind: 'ConfigMap', metadata, data: { count: String(count) } };
      const query = { fieldManager: 'flood', force: 'true' };
      const contentType = 'application/apply-patch+yaml';
      try {
        await connection.send({ method: 'PATCH', path, query, contentType, body });
      } catch (error) {
        failures.push((error as Error).message);
      }
      await pause(1000 / changesPerSecond);
    }
  };
  await Promise.all([...watchers, change()]);
  agent.destroy();
  return { endedAt: Date.now(), accepted, failures };
}

/** With the state first, as the datastore has it now. */
const query = new URLSearchParams({
  watch: 'true',
  timeoutSeconds: String(lastsSeconds),
  sendInitialEvents: 'true',
  resourceVersionMatch: 'NotOlderThan',
  allowWatchBookmarks: 'true',
});

function pick({ ca, cert, key }: RequestOptions): Pick<RequestOptions, 'ca' | 'cert' | 'key'> {
  return Object.fromEntries(Object.entries({ ca, cert, key }).filter(([, value]) => value !== undefined));
}

/** Resolves when the server has ended the watch. */
function watchOnce(url: URL, agent: Agent): Promise<void> {
  return new Promise((resolve, reject) => {
    const asked = request(url, { agent, timeout: 6 * lastsSeconds * 1000 }, (answer) => {
      answer.on('error', reject).resume();
      answer.once('end', () => {
        if (answer.statusCode === 200) resolve();
        else reject(new Error(`${answer.statusCode ?? 0} ${url.pathname}`));
      });
    });
    asked.on('timeout', () => asked.destroy(new Error(`${url.pathname}: no answer`)));
    asked.on('error', reject);
    asked.end();
  });
}
