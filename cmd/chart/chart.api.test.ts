import { spawn } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { stringify } from 'yaml';
import { allKinds } from '../../api/all-kinds.ts';
import { kinds } from '../../api/core/kinds.ts';
import type { Manifest } from '../../api/meta.ts';
import { dataStore } from '../../api/steward/v1alpha1/data-store.ts';
import { resolveTools } from '../../e2e/tools/resolve.ts';
import type { Cluster } from '../../runtime/client/cluster.ts';
import { openCluster } from '../../runtime/client/http-cluster.ts';
import { chartCases } from '../../testing/builders/chart-cases.ts';
import { eventually } from '../../testing/eventually.ts';
import { installKinds } from '../../testing/servers/install-kinds.ts';
import { chartFolder, helm, renderedChart } from '../../testing/repository/rendered-chart.ts';
import { apiServerUnderTest } from '../../testing/servers/api-server-under-test.ts';
import { serviceAccountToken } from '../../testing/servers/service-account-token.ts';
import { quickStartDataStore } from '../quick-start-data-store.ts';

const namespace = `chart-${randomUUID().slice(0, 8)}`;

let cluster: Cluster;
let kubeconfig: string;
let kubectl: string;

beforeAll(async () => {
  const [server, tools] = await Promise.all([apiServerUnderTest(), resolveTools(['kubectl'])]);
  kubeconfig = server.kubeconfigPath;
  kubectl = tools.kubectl;
  cluster = openCluster(
    { server: server.url, ca: server.ca, clientCert: server.adminCertificate, clientKey: server.adminKey },
    { name: 'management' },
  );
  await installKinds(cluster, allKinds);
  const labels = { 'pod-security.kubernetes.io/warn': 'restricted' };
  await cluster.create(kinds.Namespace, { apiVersion: 'v1', kind: 'Namespace', metadata: { name: namespace, labels } });
}, 120_000);

afterAll(() => cluster.close());

/** What the API server says to the manifests without keeping them: strict about fields, loud about Pod Security. */
async function dryRun(manifests: readonly Manifest[]): Promise<{ readonly code: number; readonly said: string }> {
  const words = [
    '--kubeconfig',
    kubeconfig,
    'apply',
    '--dry-run=server',
    '--validate=strict',
    '--server-side',
    '-f',
    '-',
  ];
  const child = spawn(kubectl, words, { stdio: ['pipe', 'ignore', 'pipe'] });
  let said = '';
  child.stderr.on('data', (chunk: Buffer) => (said += chunk.toString()));
  child.stdin.end(manifests.map((manifest) => stringify(manifest)).join('---\n'));
  return new Promise((resolve, reject) => {
    child.once('error', reject);
    child.once('close', (code) => {
      resolve({ code: code ?? -1, said });
    });
  });
}

describe('the chart before a real API server', () => {
  test.each(Object.entries(chartCases))(
    '%s: every object is accepted, and every pod meets the Pod Security Standard restricted',
    async (_, values) => {
      const manifests = await renderedChart('steward', values, namespace);
      // The Prometheus operator's kinds are not there.
      const known = manifests.filter(({ kind }) => !['ServiceMonitor', 'PrometheusRule'].includes(kind));
      expect(await dryRun(known)).toEqual({ code: 0, said: '' });
    },
    60_000,
  );

  test('a pod that violates the standard is reported', async () => {
    const values = { 'securityContext.allowPrivilegeEscalation': true };
    const { said } = await dryRun(await renderedChart('steward', values, namespace));
    expect(said).toContain('would violate PodSecurity "restricted');
  });

  test('the Job creates its DataStore with its own permissions, and no other DataStore', async () => {
    const server = await apiServerUnderTest();
    const manifests = await renderedChart('steward', { 'etcd.dataStoreName': namespace }, namespace);
    const isOfJob = ({ kind, metadata }: Manifest): boolean =>
      kind.startsWith('ClusterRole') && metadata.name === 'steward-etcd-bootstrap';
    for (const manifest of manifests.filter(isOfJob)) {
      const kind = manifest.kind === 'ClusterRole' ? kinds.ClusterRole : kinds.ClusterRoleBinding;
      await cluster.apply(kind, manifest, { fieldManager: 'helm' });
    }
    const name = 'etcd-bootstrap';
    const metadata = { name, namespace };
    await cluster.create(kinds.ServiceAccount, { apiVersion: 'v1', kind: 'ServiceAccount', metadata });
    const folder = await mkdtemp(join(tmpdir(), 'steward-chart-'));
    const tokenFile = join(folder, 'token');
    await writeFile(tokenFile, await serviceAccountToken(server, { namespace, name }), { mode: 0o600 });
    const account = openCluster({ server: server.url, ca: server.ca, tokenFile }, { name: 'management' });
    const make = (store: string): Promise<unknown> => {
      const manifest = quickStartDataStore({ name: store, namespace, clusterDomain: 'cluster.local', members: 1 });
      return account.apply(dataStore, manifest, { fieldManager: 'job' });
    };
    try {
      // The API server learns of new rights a moment later.
      await eventually(() => make(namespace));
      await expect(make(namespace)).resolves.toMatchObject({ spec: { driver: 'etcd' } });
      await expect(make('another')).rejects.toThrow(/forbidden/);
    } finally {
      await account.close();
      await cluster.delete(dataStore, { name: namespace });
      await rm(folder, { recursive: true, force: true });
    }
  }, 60_000);

  test('the definitions are accepted', async () => {
    expect(await dryRun(await renderedChart('steward-crds'))).toMatchObject({ code: 0 });
  }, 60_000);

  test('an upgrade beside a manager under a former name is refused until that one is gone', async () => {
    const upgrade = () =>
      helm(
        ...['template', 'former', chartFolder('steward'), '--namespace', namespace, '--is-upgrade'],
        ...['--dry-run=server', '--kubeconfig', kubeconfig],
      );
    const labels = { app: 'former' };
    const { metadata } = await cluster.create(kinds.Deployment, {
      apiVersion: 'apps/v1',
      kind: 'Deployment',
      metadata: { name: 'former', namespace, annotations: { 'meta.helm.sh/release-name': 'former' } },
      spec: {
        replicas: 1,
        selector: { matchLabels: labels },
        template: { metadata: { labels }, spec: { containers: [{ name: 'manager', image: 'manager' }] } },
      },
    });
    await expect(upgrade()).rejects.toThrow(
      /the Deployment former of this release is the manager under a former name.*delete deployment former/s,
    );
    await cluster.delete(kinds.Deployment, { namespace, name: metadata.name });
    await expect(upgrade()).resolves.toContain('kind: Deployment');
  }, 60_000);

  test('an upgrade that would delete the etcd of the Go Steward’s chart is refused until that etcd is marked to be kept', async () => {
    const upgrade = () =>
      helm(
        ...['template', 'steward', chartFolder('steward'), '--namespace', namespace, '--is-upgrade'],
        ...['--dry-run=server', '--kubeconfig', kubeconfig],
      );
    await expect(upgrade()).resolves.toContain('kind: Deployment');
    const labels = { app: 'etcd' };
    const set = {
      apiVersion: 'apps/v1',
      kind: 'StatefulSet',
      metadata: {
        name: 'steward-etcd',
        namespace,
        labels: { 'helm.sh/chart': 'steward-etcd-0.15.0' },
        annotations: { 'meta.helm.sh/release-name': 'steward' },
      },
      spec: {
        serviceName: 'steward-etcd',
        selector: { matchLabels: labels },
        template: { metadata: { labels }, spec: { containers: [{ name: 'etcd', image: 'etcd' }] } },
      },
    };
    const { metadata } = await cluster.create(kinds.StatefulSet, set);
    await expect(upgrade()).rejects.toThrow(
      /the StatefulSet steward-etcd .* would delete it with the data of all tenants/,
    );
    await cluster.patch(
      kinds.StatefulSet,
      { namespace, name: metadata.name },
      { type: 'merge', body: { metadata: { annotations: { 'helm.sh/resource-policy': 'keep' } } } },
    );
    await expect(upgrade()).resolves.toContain('kind: Deployment');
  }, 60_000);
});
