import { expect, test } from '@jest/globals';
import { stewardControlPlane } from '../../api/controlplane/steward-control-plane.ts';
import { kinds } from '../../api/core/kinds.ts';
import type { Draft } from '../../api/meta.ts';
import { applyDefaults } from '../../api/structural/apply-defaults.ts';
import { dataStore } from '../../api/steward/v1alpha1/data-store.ts';
import { tenantControlPlane } from '../../api/steward/v1alpha1/tenant-control-plane.ts';
import { networkEscapes, preparations } from '../../e2e/framework/attacks/namespace-escapes-network.ts';
import { newestMinor } from '../../kubeadm/versions.ts';
import type { AdmissionAnswer, AdmissionRequest } from '../../runtime/admission/admission.ts';
import { FakeCluster } from '../../testing/fake/fake-cluster.ts';
import { publishedTenant } from '../../testing/worlds/published-tenant.ts';
import { createAdmissions } from './admissions.ts';
import { reachSettings } from '../flags/reach-settings.ts';

const namespace = 'escapes';

async function preparedCluster(): Promise<FakeCluster> {
  const cluster = new FakeCluster();
  const stores = {
    [preparations.open]: undefined,
    [preparations.closedByName]: { names: ['elsewhere'] },
    [preparations.closedBySelector]: { selector: { matchLabels: { tier: 'gold' } } },
  };
  for (const [name, allowedNamespaces] of Object.entries(stores)) {
    const spec = { driver: 'etcd', endpoints: [`${name}:2379`], allowedNamespaces };
    const apiVersion = 'steward.butlerlabs.dev/v1alpha1';
    await cluster.seed(dataStore, { apiVersion, kind: 'DataStore', metadata: { name }, spec });
  }
  await cluster.seed(kinds.Namespace, { apiVersion: 'v1', kind: 'Namespace', metadata: { name: namespace } });
  const taken = publishedTenant({ ingress: { hostname: preparations.takenHost } });
  const metadata = { name: 'taken', namespace: 'elsewhere' };
  await cluster.seed(tenantControlPlane, { ...taken, metadata });
  return cluster;
}

const paths: Readonly<Record<string, string>> = {
  TenantControlPlane: '/validate-steward-butlerlabs-dev-v1alpha1-tenantcontrolplane',
  StewardControlPlane: '/validate-controlplane-cluster-x-k8s-io-stewardcontrolplane',
};

interface Asked {
  readonly admissions: ReturnType<typeof createAdmissions>;
  readonly made: Readonly<Record<string, unknown>>;
  readonly change?: Readonly<Record<string, unknown>>;
}

/** The answer to an author who creates the manifest or, if there is one, then makes the change. */
async function answerTo({ admissions, made, change }: Asked): Promise<AdmissionAnswer> {
  const kind = [tenantControlPlane, stewardControlPlane].find((one) => one.kind === made.kind);
  const handler = admissions[paths[kind?.kind ?? ''] ?? ''];
  if (kind === undefined || handler === undefined) throw new Error(`nobody answers for ${String(made.kind)}`);
  const withSpec = (more: object): Draft => {
    const spec = applyDefaults(kind.spec.openapi, { ...(made.spec as object), ...more });
    return { ...made, spec } as object as Draft;
  };
  const ask = async (request: Pick<AdmissionRequest, 'operation' | 'object'> & { oldObject?: Draft }) => {
    const is = { group: kind.group, version: kind.version, kind: kind.kind };
    const { signal } = new AbortController();
    return handler({ uid: '1', kind: is, namespace, name: 'any', ...request }, { signal });
  };
  const created = await ask({ operation: 'CREATE', object: withSpec({}) });
  if (change === undefined) return created;
  expect(created).toMatchObject({ allowed: true });
  return ask({ operation: 'UPDATE', object: withSpec(change), oldObject: withSpec({}) });
}

test.each(networkEscapes)(
  '$name is refused, and the refusal names field and reason',
  async ({ manifest, change, words }) => {
    const admissions = createAdmissions({ cluster: await preparedCluster(), defaultDataStore: '', newestMinor });
    const answer = await answerTo({ admissions, made: manifest(namespace), change });
    expect(answer.allowed).toBe(false);
    for (const word of words) expect(answer.allowed ? '' : answer.message).toContain(word);
  },
);

test.each(networkEscapes.filter(({ flag }) => flag !== undefined))(
  '$name is admitted if a flag of the manager allows it',
  async ({ manifest, flag = '' }) => {
    const [name, value = ''] = flag.split('=');
    const reach = name === '--allow-external-ips' ? reachSettings(value, '') : reachSettings('', value);
    const cluster = await preparedCluster();
    const admissions = createAdmissions({ cluster, defaultDataStore: '', newestMinor, reach });
    const answer = await answerTo({ admissions, made: manifest(namespace) });
    expect(answer).toMatchObject({ allowed: true });
  },
);
