import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { request as httpsRequest } from 'node:https';
import { capiExtensionConfig } from '../../api/cluster-api/kinds.ts';
import { InformerFactory } from '../../runtime/cache/informer-factory.ts';
import { silent } from '../../runtime/observe/logger.ts';
import { Metrics } from '../../runtime/observe/metrics.ts';
import { FakeClock } from '../../testing/fake/fake-clock.ts';
import { FakeCluster } from '../../testing/fake/fake-cluster.ts';
import { freePorts } from '../../testing/servers/free-ports.ts';
import { Closing } from '../closing.ts';
import { readManagerSettings } from '../flags/manager-settings.ts';
import { serveAdmission } from './serve-admission.ts';

const path = '/hooks.runtime.cluster.x-k8s.io/v1alpha1/discovery';

let cluster: FakeCluster;
let clock: FakeClock;
let closing: Closing;

beforeEach(async () => {
  clock = new FakeClock(new Date());
  cluster = new FakeCluster({ now: () => clock.now().getTime() });
  closing = new Closing();
  await cluster.seed(capiExtensionConfig, {
    apiVersion: 'runtime.cluster.x-k8s.io/v1beta2',
    kind: 'ExtensionConfig',
    metadata: { name: 'steward-clusterstacks' },
    spec: { clientConfig: { service: { name: 'steward-webhook-service', namespace: 'steward-system' } } },
  });
});
afterEach(() => closing.close());

async function serve(gates: string): Promise<void> {
  const [port = 0] = await freePorts(1);
  const base = `127.0.0.1:${port}`;
  const flags = [`--feature-gates=${gates}`, `--webhook-bind-address=${base}`, `--webhook-url=https://${base}`];
  await serveAdmission({
    settings: readManagerSettings(['--pod-namespace=steward-system', ...flags], {}),
    ...{ cluster, clock, closing, log: silent, signal: new AbortController().signal, enqueue: () => undefined },
    informers: closing.add(new InformerFactory({ cluster, clock }), (factory) => factory.close()),
    metrics: new Metrics({ process: false }),
  });
}

/** Sends a request like core: to the address and with the CA of the ExtensionConfig, without a content type. */
async function discover(): Promise<{ readonly code: number; readonly body: string }> {
  const { spec } = (await cluster.admin.get(capiExtensionConfig, { name: 'steward-clusterstacks' })) ?? {};
  const { url, caBundle } = spec?.clientConfig ?? {};
  if (url === undefined || caBundle === undefined) throw new Error('the ExtensionConfig names nobody');
  return new Promise((resolve, reject) => {
    const options = { method: 'POST', ca: Buffer.from(caBundle, 'base64'), agent: false };
    const request = httpsRequest(`${new URL(path, url).href}?timeout=10s`, options, (response) => {
      let body = '';
      response.setEncoding('utf8').on('data', (text: string) => (body += text));
      response.on('end', () => {
        resolve({ code: response.statusCode ?? 0, body });
      });
    });
    request.on('error', reject);
    request.end('{"kind":"DiscoveryRequest","apiVersion":"hooks.runtime.cluster.x-k8s.io/v1alpha1"}');
  });
}

describe('The webhook server', () => {
  test('answers the hooks of Cluster API at the paths of the ExtensionConfig if both feature gates are on', async () => {
    await serve('ClusterStacks=true,RuntimeSDK=true');
    const { code, body } = await discover();
    expect(code).toBe(200);
    expect(body).toContain('before-cluster-upgrade');
  });

  test('does not change ExtensionConfigs if one of the gates is off', async () => {
    await serve('ClusterStacks=true');
    await expect(discover()).rejects.toThrow('names nobody');
    expect(cluster.calls.some(({ kind }) => kind?.kind === 'ExtensionConfig')).toBe(false);
  });
});
