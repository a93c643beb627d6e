import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { request } from 'node:https';
import { labels } from '../../api/names.ts';
import type { ObjectAddress } from '../../e2e/cluster/kubernetes-client.ts';
import { parseKubeconfig } from '../../runtime/client/kubeconfig.ts';
import { privateKeyHashes } from '../../testing/builders/private-keys.ts';
import type { KeyHolder } from '../../testing/builders/private-keys.ts';
import { startManagementWithoutNodes } from '../../testing/worlds/management-without-nodes.ts';
import type { ManagementWithoutNodes } from '../../testing/worlds/management-without-nodes.ts';

const group = 'steward.butlerlabs.dev/v1alpha1';
const namespace = 'default';
const names = ['first', 'second', 'third'] as const;
const pool: ObjectAddress = { apiVersion: group, kind: 'ControlPlanePool', namespace, name: 'prepared' };
const claim = (name: string): ObjectAddress => ({ apiVersion: group, kind: 'ControlPlaneClaim', namespace, name });

let management: ManagementWithoutNodes;

beforeAll(async () => {
  management = await startManagementWithoutNodes();
}, 300_000);

afterAll(async () => {
  await management[Symbol.asyncDispose]();
}, 60_000);

/** The status of `/readyz` for the user of a kubeconfig. */
function readyz(kubeconfig: string): Promise<number | undefined> {
  const { server, ca, clientCert: cert, clientKey: key } = parseKubeconfig(kubeconfig);
  return new Promise((resolve, reject) => {
    const asking = request(`${server}/readyz`, { ca, cert, key }, (answer) => {
      answer.resume();
      resolve(answer.statusCode);
    });
    asking.once('error', reject);
    asking.end();
  });
}

test('claimed control planes answer with the kubeconfigs of their claims, and no two have one private key', async () => {
  const { client } = management;
  const deployment = { replicas: 1, extraArgs: { apiServer: ['--endpoint-reconciler-type=none'] } };
  const spec = {
    kubernetes: { version: 'v1.36.3' },
    controlPlane: { deployment, service: { serviceType: 'ClusterIP' } },
  };
  const { apiVersion, kind, name } = pool;
  const template = { metadata: { labels: { tier: 'small' } }, spec };
  await client.apply([{ apiVersion, kind, metadata: { namespace, name }, spec: { template, minReady: 2 } }]);
  await client.waitFor(pool, 'Ready', { timeoutMs: 120_000 });
  const hashes: ReadonlySet<string>[] = [];
  const given: string[] = [];
  for (const one of names) {
    const { apiVersion: version, kind: called } = claim(one);
    const metadata = { namespace, name: one };
    await client.apply([{ apiVersion: version, kind: called, metadata, spec: { pool: name } }]);
    const bound = await client.waitFor(claim(one), 'Bound', { timeoutMs: 120_000 });
    const tenant = String(bound?.status?.tenantControlPlane);
    given.push(tenant);
    const secrets = await client.list('v1', 'Secret', namespace);
    const kubeconfig = secrets.find(({ metadata: about }) => about?.name === `${one}-kubeconfig`) as KeyHolder;
    // It ran before, and nothing restarts it.
    expect(await readyz(Buffer.from(kubeconfig.data?.value ?? '', 'base64').toString())).toBe(200);
    const own = secrets.filter(
      ({ metadata: about }) => about?.labels?.[labels.name] === tenant,
    ) as readonly KeyHolder[];
    const keys = privateKeyHashes([...own, kubeconfig]);
    // CA, front-proxy CA, service accounts, serving certificate, clients of the API server, kubeconfigs of others, that of the claim.
    expect(keys.size).toBeGreaterThan(8);
    hashes.push(keys);
  }
  expect(new Set(given).size).toBe(names.length);
  const all = hashes.flatMap((keys) => [...keys]);
  expect(new Set(all).size).toBe(all.length);
  // What is deleted with its claim is gone, with its keys, and the others stay.
  await client.delete(claim('first'));
  await client.waitFor(claim('first'), (object) => object === undefined, { timeoutMs: 120_000 });
  const left = await client.list(group, 'TenantControlPlane', namespace);
  expect(left.map(({ metadata }) => metadata?.name)).not.toContain(given[0]);
  expect(left.map(({ metadata }) => metadata?.name)).toEqual(expect.arrayContaining(given.slice(1)));
}, 300_000);
