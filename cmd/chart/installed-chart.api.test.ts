import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { allKinds } from '../../api/all-kinds.ts';
import { crdName } from '../../api/generate/crd.ts';
import { kinds } from '../../api/core/kinds.ts';
import { resolveTools } from '../../e2e/tools/resolve.ts';
import type { Resource } from '../../api/meta.ts';
import type { Cluster } from '../../runtime/client/cluster.ts';
import { openCluster } from '../../runtime/client/http-cluster.ts';
import { chartFolder, helm } from '../../testing/repository/rendered-chart.ts';
import { startApiServer } from '../../testing/servers/api-server.ts';
import type { ApiServer } from '../../testing/servers/api-server.ts';

// A server of its own: the webhooks that are installed have nobody behind them.
let server: ApiServer;
let cluster: Cluster;
const namespace = 'steward-system';
/** An API server refuses a Secret of more than 1 MiB. Half of it is left for definitions that are still to come. */
const allowedReleaseBytes = 512 * 1024;

interface AggregatedRole extends Resource {
  readonly aggregationRule?: object;
  readonly rules?: readonly object[];
}

const release = (...words: readonly string[]): Promise<string> =>
  helm(...words, '--namespace', namespace, '--kubeconfig', server.kubeconfigPath);
const install = (chart: string, ...values: readonly string[]): Promise<string> =>
  release('upgrade', '--install', chart, chartFolder(chart), '--create-namespace', ...values);

beforeAll(async () => {
  await resolveTools(['helm']);
  server = await startApiServer();
  cluster = openCluster(
    { server: server.url, ca: server.ca, clientCert: server.adminCertificate, clientKey: server.adminKey },
    { name: 'management' },
  );
}, 120_000);

afterAll(async () => {
  await cluster.close();
  await server.stop();
});

describe('an installation with Helm', () => {
  const jobs = async (): Promise<readonly string[]> =>
    (await cluster.list(kinds.Job, { namespace })).items.map(({ metadata }) => metadata.name);
  const bundle = async (): Promise<string | undefined> => {
    const name = 'steward-validating-webhook-configuration';
    const found = await cluster.get(kinds.ValidatingWebhookConfiguration, { name });
    return found?.webhooks?.[0]?.clientConfig.caBundle;
  };

  test('is the two commands of the README, on an empty cluster', async () => {
    await install('steward-crds', '--set', 'clusterStacks.enabled=true');
    expect(await install('steward')).toContain('STATUS: deployed');
    expect(await cluster.get(kinds.Deployment, { namespace, name: 'steward-controller-manager' })).toBeDefined();
    expect(await jobs()).toEqual(['etcd-bootstrap-1']);
  }, 120_000);

  test('is upgraded by the same two, and keeps what the manager wrote into its webhooks', async () => {
    const name = 'steward-validating-webhook-configuration';
    const body = [{ op: 'add', path: '/webhooks/0/clientConfig/caBundle', value: 'Y2E=' }];
    await cluster.patch(kinds.ValidatingWebhookConfiguration, { name }, { type: 'json', body });
    expect(await bundle()).toBe('Y2E=');
    await install('steward-crds');
    await install('steward', '--set', 'replicaCount=2');
    expect(
      (await cluster.get(kinds.Deployment, { namespace, name: 'steward-controller-manager' }))?.spec?.replicas,
    ).toBe(2);
    expect(await bundle()).toBe('Y2E=');
    // A Job cannot be changed: the new revision has its own.
    expect(await jobs()).toEqual(['etcd-bootstrap-2']);
  }, 120_000);

  test('is upgraded after Kubernetes has written the rules of its aggregated ClusterRoles', async () => {
    await install('steward', '--set', 'clusterStacks.enabled=true');
    const { items } = await cluster.list<AggregatedRole>(kinds.ClusterRole);
    const aggregated = items.filter(
      ({ metadata, aggregationRule }) => aggregationRule !== undefined && metadata.name.startsWith('steward-'),
    );
    expect(aggregated.map(({ metadata }) => metadata.name).toSorted()).toEqual([
      'steward-clusterstacks-objects-role',
      'steward-infrastructure-role',
    ]);
    // As kube-controller-manager does, which does not run here.
    const rules = [{ apiGroups: ['example.com'], resources: ['widgets'], verbs: ['get'] }];
    for (const { metadata, aggregationRule } of aggregated) {
      const role = { apiVersion: 'rbac.authorization.k8s.io/v1', kind: 'ClusterRole', aggregationRule, rules };
      const manifest = { ...role, metadata: { name: metadata.name } };
      await cluster.apply(kinds.ClusterRole, manifest, { fieldManager: 'clusterrole-aggregation-controller' });
    }
    expect(await install('steward', '--set', 'clusterStacks.enabled=true')).toContain('STATUS: deployed');
    const after = await cluster.get<AggregatedRole>(kinds.ClusterRole, { name: 'steward-infrastructure-role' });
    expect(after?.rules).toEqual(rules);
  }, 120_000);

  test('fits into the Secrets in which Helm keeps releases', async () => {
    const { items } = await cluster.list(kinds.Secret, { namespace, labelSelector: 'owner=helm' });
    expect(items.map(({ metadata }) => metadata.labels?.name).sort()).toContain('steward-crds');
    for (const { data } of items)
      expect(Buffer.from(data?.release ?? '', 'base64').length).toBeLessThan(allowedReleaseBytes);
  });

  test('leaves the definitions when it is uninstalled, and with them all tenants', async () => {
    await release('uninstall', 'steward');
    await release('uninstall', 'steward-crds');
    for (const kind of allKinds) {
      expect(await cluster.get(kinds.CustomResourceDefinition, { name: crdName(kind) })).toBeDefined();
    }
    expect(await cluster.get(kinds.Deployment, { namespace, name: 'steward-controller-manager' })).toBeUndefined();
    await expect(install('steward-crds')).resolves.toContain('STATUS: deployed');
  }, 120_000);

  test('adopts definitions that were applied by hand, with --take-ownership', async () => {
    const name = 'datastores.steward.butlerlabs.dev';
    const owner = 'meta.helm.sh/release-name';
    await release('uninstall', 'steward-crds');
    const body = { metadata: { annotations: { [owner]: null }, labels: { 'app.kubernetes.io/managed-by': null } } };
    await cluster.patch(kinds.CustomResourceDefinition, { name }, { type: 'merge', body });
    await expect(install('steward-crds')).rejects.toThrow(/invalid ownership metadata/);
    await install('steward-crds', '--take-ownership');
    const taken = await cluster.get(kinds.CustomResourceDefinition, { name });
    expect(taken?.metadata.annotations?.[owner]).toBe('steward-crds');
  }, 120_000);
});
