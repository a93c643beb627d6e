import { describe, expect, test } from '@jest/globals';
import { kinds } from '../../api/core/kinds.ts';
import type { Draft } from '../../api/meta.ts';
import { dataStore } from '../../api/steward/v1alpha1/data-store.ts';
import type { ControlPlaneClaimSpecInput } from '../../api/steward/v1alpha1/pool/control-plane-claim.ts';
import { controlPlanePool } from '../../api/steward/v1alpha1/pool/control-plane-pool.ts';
import { newestMinor } from '../../kubeadm/versions.ts';
import type { AdmissionRequest } from '../../runtime/admission/admission.ts';
import { tenantControlPlaneWith } from '../../testing/builders/tenant-control-plane.ts';
import type { TenantControlPlaneChanges } from '../../testing/builders/tenant-control-plane.ts';
import { FakeCluster } from '../../testing/fake/fake-cluster.ts';
import { declaredRoles } from '../declared-access.ts';
import { createAdmissions } from './admissions.ts';

const group = 'steward.butlerlabs.dev';
const apiVersion = `${group}/v1alpha1`;
const namespace = 'team';
/** What the manager may do. */
const access = declaredRoles
  .filter((role) => role.name === 'steward-manager-role')
  .flatMap(({ parts }) => parts.flatMap((part) => part.access));

const poolOf = (changes: TenantControlPlaneChanges = {}, spec: object = {}): Draft =>
  ({
    ...{ apiVersion, kind: 'ControlPlanePool', metadata: { name: 'small', namespace } },
    spec: { template: { spec: tenantControlPlaneWith(changes).spec }, minReady: 1, ...spec },
  }) as Draft;

interface Answer {
  readonly message: string;
  readonly warnings: readonly string[];
}

interface Asked {
  readonly object: Draft;
  readonly oldObject?: Draft;
  readonly userInfo?: AdmissionRequest['userInfo'];
  readonly defaultDataStore?: string;
}

/** The answer of the cluster's admission to a request in the namespace. */
async function answerTo(
  cluster: FakeCluster,
  { object, oldObject, userInfo, defaultDataStore = '' }: Asked,
): Promise<Answer> {
  const { kind = '' } = object as { readonly kind?: string };
  const handler = createAdmissions({ cluster, defaultDataStore, newestMinor })[
    `/validate-steward-butlerlabs-dev-v1alpha1-${kind.toLowerCase()}`
  ];
  if (handler === undefined) throw new Error(`nobody answers for ${kind}`);
  const request: AdmissionRequest = {
    ...{ uid: '1', kind: { group, version: 'v1alpha1', kind }, namespace, object },
    operation: oldObject === undefined ? 'CREATE' : 'UPDATE',
    ...(oldObject !== undefined && { oldObject }),
    ...(userInfo !== undefined && { userInfo }),
  };
  const answer = await handler(request, { signal: new AbortController().signal });
  return { message: answer.allowed ? 'allowed' : answer.message, warnings: answer.warnings ?? [] };
}

async function clusterWithStores(): Promise<FakeCluster> {
  const cluster = new FakeCluster({ access });
  const kind = 'DataStore';
  const spec = { driver: 'etcd', endpoints: ['etcd:2379'] };
  const allowedNamespaces = { selector: { matchLabels: { team: 'other' } } };
  await cluster.seed(dataStore, { apiVersion, kind, metadata: { name: 'default' }, spec });
  await cluster.seed(dataStore, {
    apiVersion,
    kind,
    metadata: { name: 'others' },
    spec: { ...spec, allowedNamespaces },
  });
  await cluster.seed(kinds.Namespace, { apiVersion: 'v1', kind: 'Namespace', metadata: { name: namespace } });
  return cluster;
}

const privileged = { name: 'extra', image: 'x', securityContext: { privileged: true } };

/** Each of them is what a control plane with this spec would be refused for. */
const refused: readonly (readonly [what: string, changes: TenantControlPlaneChanges, field: string])[] = [
  ['a version of the future', { kubernetes: { version: 'v1.99.0' } }, 'kubernetes.version'],
  ['a DataStore that does not exist', { spec: { dataStore: 'nowhere' } }, 'dataStore'],
  ['a DataStore that does not take the namespace', { spec: { dataStore: 'others' } }, 'dataStore'],
  ['overlapping networks', { networkProfile: { podCidr: '10.96.0.0/15' } }, 'networkProfile.podCidr'],
  [
    'an argument that is no flag',
    { deployment: { extraArgs: { apiServer: ['v=2'] } } },
    'controlPlane.deployment.extraArgs.apiServer[0]',
  ],
  [
    'a container that the namespace does not permit',
    { deployment: { additionalContainers: [privileged] } },
    'controlPlane.deployment.additionalContainers[0].securityContext.privileged',
  ],
];

describe('A pool', () => {
  test('is admitted with a template of which control planes can be created', async () => {
    expect(await answerTo(await clusterWithStores(), { object: poolOf() })).toEqual({
      message: 'allowed',
      warnings: [],
    });
  });

  test.each(refused)(
    'is refused for %s, as a control plane is, and the field is that of the pool',
    async (_, changes, field) => {
      const cluster = await clusterWithStores();
      const { message } = await answerTo(cluster, { object: poolOf(changes) });
      expect(message).toContain(`spec.template.spec.${field}`);
      const tcp = { ...tenantControlPlaneWith({ ...changes, metadata: { namespace } }) };
      const { message: ofTenant } = await answerTo(cluster, { object: tcp });
      expect(ofTenant).toContain(`spec.${field}`);
      expect(message.replaceAll('spec.template.spec', 'spec')).toBe(ofTenant);
    },
  );

  test('is refused for a DNS name that each of its control planes would request, and that only one can have', async () => {
    const certSANs = ['a.example.com'];
    const annotations = { 'external-dns.alpha.kubernetes.io/hostname': 'a.example.com' };
    const changes = { service: { additionalMetadata: { annotations } }, networkProfile: { certSANs } };
    const cluster = await clusterWithStores();
    expect((await answerTo(cluster, { object: poolOf(changes) })).message).toMatch(
      /^spec\.template\.spec\.controlPlane\.service\.additionalMetadata\.annotations\[".*"\] "a\.example\.com" can belong to one control plane only: remove it from the template$/,
    );
    // A single control plane may have it.
    const tcp = tenantControlPlaneWith({ ...changes, metadata: { namespace } });
    expect((await answerTo(cluster, { object: tcp })).message).toBe('allowed');
  });

  test('is judged with the DataStore that its control planes get by default', async () => {
    const open = { spec: { dataStore: '' } };
    const cluster = await clusterWithStores();
    expect((await answerTo(cluster, { object: poolOf(open), defaultDataStore: 'default' })).message).toBe('allowed');
    const { message } = await answerTo(cluster, { object: poolOf(open), defaultDataStore: 'nowhere' });
    expect(message).toContain('spec.template.spec.dataStore "nowhere"');
  });

  test('may be changed in other respects although its template would be refused by now', async () => {
    const broken = { spec: { dataStore: 'gone' } };
    const cluster = await clusterWithStores();
    const oldObject = poolOf(broken);
    expect((await answerTo(cluster, { object: poolOf(broken, { maxReady: 3 }), oldObject })).message).toBe('allowed');
    const changed = poolOf({ ...broken, deployment: { replicas: 1 } });
    expect((await answerTo(cluster, { object: changed, oldObject })).message).toContain('spec.template.spec.dataStore');
    const leaving = { ...changed, metadata: { ...changed.metadata, deletionTimestamp: '2030-01-01T00:00:00Z' } };
    expect((await answerTo(cluster, { object: leaving, oldObject })).message).toBe('allowed');
  });

  test('is admitted with a warning if it prepares nothing, or an old version', async () => {
    const cluster = await clusterWithStores();
    const { warnings } = await answerTo(cluster, {
      object: poolOf({ kubernetes: { version: 'v1.23.6' } }, { minReady: 0 }),
    });
    expect(warnings).toEqual([
      'spec.maxReady is 0: no control plane is prepared, and claims wait until it is raised',
      expect.stringContaining('v1.23.6 is older than'),
    ]);
    expect((await answerTo(cluster, { object: poolOf({}, { minReady: 0, maxReady: 1 }) })).warnings).toEqual([]);
  });
});

describe('A claim', () => {
  const claimOf = (spec: ControlPlaneClaimSpecInput): Draft =>
    ({ apiVersion, kind: 'ControlPlaneClaim', metadata: { name: 'build', namespace }, spec }) as Draft;
  const userInfo = { username: 'jane', groups: ['ci'], uid: 'u', extra: { scopes: ['a'] } };
  const mayClaim = { verb: 'claim', group, resource: 'controlplanepools', namespace, name: 'small' };
  const mayCreate = { verb: 'create', group, resource: 'tenantcontrolplanes', namespace };

  /** The answer to a claim of a user who has one right, and what the API server was asked. */
  async function claimed(right: object | undefined): Promise<Answer & { readonly asked: readonly unknown[] }> {
    const asked: unknown[] = [];
    const cluster = new FakeCluster({
      access,
      allows: (spec) => {
        asked.push(spec);
        return JSON.stringify((spec as { resourceAttributes: object }).resourceAttributes) === JSON.stringify(right);
      },
    });
    await cluster.seed(controlPlanePool, poolOf());
    return { ...(await answerTo(cluster, { object: claimOf({ pool: 'small' }), userInfo })), asked };
  }

  test.each([
    ['claim from the pool', mayClaim],
    ['create control planes in the namespace', mayCreate],
  ])('is admitted if its author may %s', async (_, right) => {
    expect(await claimed(right)).toMatchObject({ message: 'allowed', warnings: [] });
  });

  test('is refused if its author may do neither, and the refusal says which right is missing', async () => {
    const { message, asked } = await claimed(undefined);
    expect(message).toBe(
      'spec.pool "small" is a pool from which jane may not claim: grant the verb claim on the resource controlplanepools with this name in namespace team, or the verb create on tenantcontrolplanes there',
    );
    const user = { user: 'jane', groups: ['ci'], uid: 'u', extra: { scopes: ['a'] } };
    expect(asked).toEqual([
      { ...user, resourceAttributes: mayClaim },
      { ...user, resourceAttributes: mayCreate },
    ]);
  });

  test.each([
    ['another pool', { ...mayClaim, name: 'large' }],
    ['the pool of that name in another namespace', { ...mayClaim, namespace: 'other' }],
  ])('is refused if its author may claim from %s', async (_, right) => {
    expect((await claimed(right)).message).toContain('may not claim');
  });

  test('is admitted before its pool, with a warning', async () => {
    const cluster = new FakeCluster({ access, allows: () => true });
    const { message, warnings } = await answerTo(cluster, { object: claimOf({ pool: 'none' }), userInfo });
    expect(message).toBe('allowed');
    expect(warnings).toEqual(['ControlPlanePool none does not exist in this namespace: the claim waits']);
  });

  test('is refused when the API server does not say what its author may do', async () => {
    const cluster = new FakeCluster({ access });
    cluster.failNext({ verb: 'create' }, new Error('no route'));
    await expect(answerTo(cluster, { object: claimOf({ pool: 'small' }), userInfo })).rejects.toThrow('no route');
  });
});
