import { execFile } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { resolveTools } from '../e2e/tools/resolve.ts';
import type { Cluster } from '../runtime/client/cluster.ts';
import { openCluster } from '../runtime/client/http-cluster.ts';
import { definitionConditions, installKinds } from '../testing/servers/install-kinds.ts';
import { apiServerUnderTest } from '../testing/servers/api-server-under-test.ts';
import { allKinds } from './all-kinds.ts';
import { stewardControlPlane } from './controlplane/steward-control-plane.ts';
import { kinds } from './core/kinds.ts';
import { objectSchema } from './generate/crd.ts';
import { generatedFiles } from './generate/generated-files.ts';
import type { Manifest, Resource } from './meta.ts';
import { apiVersionOf } from './meta.ts';
import type { Kind } from './schema.ts';
import { backupPolicy } from './steward/v1alpha1/backup/backup-policy.ts';
import { tenantBackup } from './steward/v1alpha1/backup/tenant-backup.ts';
import { tenantRestore } from './steward/v1alpha1/backup/tenant-restore.ts';
import { dataStore } from './steward/v1alpha1/data-store.ts';
import { controlPlaneClaim } from './steward/v1alpha1/pool/control-plane-claim.ts';
import { controlPlanePool } from './steward/v1alpha1/pool/control-plane-pool.ts';
import { kubeconfigGenerator } from './steward/v1alpha1/kubeconfig-generator.ts';
import { retainedControlPlane } from './steward/v1alpha1/retained-control-plane.ts';
import { tenantControlPlane } from './steward/v1alpha1/tenant-control-plane.ts';
import { applyDefaults } from './structural/apply-defaults.ts';
import { prune } from './structural/prune.ts';
import { validate } from './structural/validate.ts';

const run = promisify(execFile);
const root = join(import.meta.dirname, '..');
const namespace = `crd-${randomUUID().slice(0, 8)}`;

let cluster: Cluster;
let kubectl: (...words: string[]) => Promise<string>;

beforeAll(async () => {
  const [server, tools] = await Promise.all([apiServerUnderTest(), resolveTools(['kubectl'])]);
  cluster = openCluster(
    { server: server.url, ca: server.ca, clientCert: server.adminCertificate, clientKey: server.adminKey },
    { name: 'management' },
  );
  kubectl = async (...words) => (await run(tools.kubectl, ['--kubeconfig', server.kubeconfigPath, ...words])).stdout;
  await installKinds(cluster, allKinds);
  await cluster.create(kinds.Namespace, { apiVersion: 'v1', kind: 'Namespace', metadata: { name: namespace } });
}, 120_000);

afterAll(() => cluster.close());

const manifestOf = (kind: Kind, spec: object): Manifest => ({
  apiVersion: apiVersionOf(kind),
  kind: kind.kind,
  metadata: { name: `x-${randomUUID().slice(0, 8)}`, ...(kind.namespaced && { namespace }) },
  spec,
});

const dryRun = (kind: Kind, spec: object): Promise<Resource> =>
  cluster.create(kind, manifestOf(kind, spec), { dryRun: true });

const smallest = { controlPlane: { service: { serviceType: 'ClusterIP' } }, kubernetes: { version: '1.29.0' } };
const secretReference = { name: 'a', namespace: 'b', keyPath: 'c' };

const backupSource = {
  tenantControlPlaneName: 'a',
  encryption: { keySecret: { name: 'a' } },
  storage: { persistentVolumeClaim: { claimName: 'a' } },
};

describe('The definitions', () => {
  test.each(allKinds.map((kind) => [kind.kind, kind] as const))('%s is established and structural', async (_, kind) => {
    const conditions = await definitionConditions(cluster, kind);
    expect(conditions.get('Established')?.status).toBe('True');
    expect(conditions.get('NonStructuralSchema')).toBeUndefined();
  });

  test('kubectl apply records every generated file and finds nothing to change', async () => {
    const files = [...generatedFiles(allKinds, []).keys()].filter((path) => /^config\/.*crd\/.*_.*\.yaml$/.test(path));
    expect(files).toHaveLength(allKinds.length);
    const args = files.flatMap((path) => ['-f', join(root, path)]);
    await kubectl('apply', ...args);
    expect(await kubectl('apply', ...args)).not.toContain('configured');
  }, 60_000);

  test('an object written in one version reads the same in the other', async () => {
    const v1alpha1 = { ...stewardControlPlane, version: 'v1alpha1' };
    const manifest = manifestOf(v1alpha1, { version: 'v1.36.3' });
    const written = await cluster.create(v1alpha1, manifest);
    const found = await cluster.get(stewardControlPlane, { namespace, name: manifest.metadata.name });
    expect(found?.apiVersion).toBe('controlplane.cluster.x-k8s.io/v1alpha2');
    expect(found?.spec).toEqual(written.spec);
  });
});

describe('defaults', () => {
  test('a TenantControlPlane whose author left out every parent gets all defaults', async () => {
    const { spec } = (await dryRun(tenantControlPlane, smallest)) as Resource & { readonly spec: unknown };
    expect(spec).toMatchObject({
      controlPlane: {
        deployment: {
          replicas: 2,
          serviceAccountName: 'default',
          registrySettings: { registry: 'registry.k8s.io', apiServerImage: 'kube-apiserver' },
          strategy: { type: 'RollingUpdate', rollingUpdate: { maxUnavailable: 0, maxSurge: '100%' } },
        },
      },
      kubernetes: { kubelet: { preferredAddressTypes: ['InternalIP', 'ExternalIP', 'Hostname'] } },
      networkProfile: {
        port: 6443,
        clusterDomain: 'cluster.local',
        serviceCidr: '10.96.0.0/16',
        podCidr: '10.244.0.0/16',
      },
      addons: {},
    });
  });

  const samples: readonly (readonly [string, Kind, object])[] = [
    ['the smallest TenantControlPlane', tenantControlPlane, smallest],
    [
      'a TenantControlPlane with add-ons',
      tenantControlPlane,
      { ...smallest, addons: { konnectivity: {}, workerBootstrap: { provider: 'talos', talos: {}, csrApproval: {} } } },
    ],
    [
      'a TenantControlPlane with containers, unknown fields and nulls',
      tenantControlPlane,
      {
        ...smallest,
        networkProfile: null,
        controlPlane: {
          service: { serviceType: 'NodePort', additionalPorts: [{ name: 'a', port: 1, targetPort: 'http' }] },
          gateway: { hostname: 'a.example.com', parentRefs: [{ name: 'gw' }] },
          deployment: {
            additionalContainers: [{ name: 'a', ports: [{ containerPort: 80 }], resources: { limits: { cpu: 1 } } }],
            resources: { limits: { cpu: '500m' } },
          },
        },
        kubernetes: {
          version: '1',
          kubelet: { configurationJSONPatches: [{ op: 'add', path: '/a', value: { b: [null, 1] } }] },
        },
      },
    ],
    ['the smallest StewardControlPlane', stewardControlPlane, { version: 'v1.36.3' }],
    ['a StewardControlPlane with a network', stewardControlPlane, { version: 'v1.36.3', network: {}, kubelet: {} }],
    ['a RetainedControlPlane', retainedControlPlane, { formerUID: 'a', record: '{}' }],
    ['a KubeconfigGenerator', kubeconfigGenerator, { user: { stringValue: 'a' } }],
    ['a ControlPlanePool', controlPlanePool, { template: { spec: smallest } }],
    ['a ControlPlaneClaim', controlPlaneClaim, { pool: 'a' }],
    ['a BackupPolicy', backupPolicy, { ...backupSource, schedule: '0 * * * *' }],
    ['a TenantBackup', tenantBackup, { source: backupSource }],
    [
      'a TenantRestore',
      tenantRestore,
      { tenantControlPlaneName: 'a', type: 'InPlace', source: { repository: backupSource } },
    ],
    [
      'a DataStore',
      dataStore,
      { driver: 'NATS', endpoints: ['a:1'], tlsConfig: { certificateAuthority: { certificate: { secretReference } } } },
    ],
  ];

  test.each(samples)('defaulting and pruning of %s by Steward equal those of the API server', async (_, kind, spec) => {
    const manifest = manifestOf(kind, spec);
    const answer = (await cluster.create(kind, manifest, { dryRun: true })) as Resource & { readonly spec: unknown };
    const schema = objectSchema(kind);
    const ours = applyDefaults(schema, prune(schema, manifest)) as { readonly spec: unknown };
    expect(ours.spec).toEqual(answer.spec);
    expect(validate(schema, ours)).toEqual([]);
  });
});

describe('validation', () => {
  const withAddresses = (preferredAddressTypes: readonly unknown[]): object => ({
    ...smallest,
    kubernetes: { version: 'v1', kubelet: { preferredAddressTypes } },
  });
  const withControllers = (admissionControllers: unknown): object => ({
    ...smallest,
    kubernetes: { version: 'v1', admissionControllers },
  });
  const refused: readonly (readonly [string, Kind, object, string])[] = [
    ['a missing version', tenantControlPlane, { ...smallest, kubernetes: {} }, 'spec.kubernetes.version'],
    ['a missing service', tenantControlPlane, { ...smallest, controlPlane: {} }, 'spec.controlPlane.service'],
    [
      'an unknown service type',
      tenantControlPlane,
      { ...smallest, controlPlane: { service: { serviceType: 'X' } } },
      'serviceType',
    ],
    [
      'duplicate address types',
      tenantControlPlane,
      withAddresses(['InternalIP', 'InternalIP']),
      'preferredAddressTypes',
    ],
    ['an unknown address type', tenantControlPlane, withAddresses(['Foo']), 'preferredAddressTypes'],
    ['no address type', tenantControlPlane, withAddresses([]), 'preferredAddressTypes'],
    ['an unknown admission plugin in a list', tenantControlPlane, withControllers(['Foo']), 'admissionControllers[0]'],
    [
      'an unknown admission plugin in a string',
      tenantControlPlane,
      withControllers('LimitRanger,Foo'),
      'admissionControllers',
    ],
    [
      'a cluster domain without a dot',
      tenantControlPlane,
      { ...smallest, networkProfile: { clusterDomain: 'local' } },
      'clusterDomain',
    ],
    ['a DataStore without endpoints', dataStore, { driver: 'etcd', endpoints: [] }, 'spec.endpoints'],
    ['a DataStore of an unknown driver', dataStore, { driver: 'Oracle', endpoints: ['a:1'] }, 'spec.driver'],
    ['a StewardControlPlane without a version', stewardControlPlane, {}, 'spec.version'],
    [
      'a backup of another namespace',
      stewardControlPlane,
      { version: 'v1', restoreFrom: { repository: { ...backupSource, tenantControlPlaneName: '../other/shop' } } },
      'spec.restoreFrom.repository.tenantControlPlaneName',
    ],
    [
      'a probe period of zero',
      stewardControlPlane,
      { version: 'v1', apiServer: { probes: { liveness: { periodSeconds: 0 } } } },
      'periodSeconds',
    ],
  ];

  test.each(refused)(
    '%s is refused by the API server and by the validation of Steward',
    async (_, kind, spec, field) => {
      await expect(dryRun(kind, spec)).rejects.toThrow(field);
      const schema = objectSchema(kind);
      const problems = validate(schema, applyDefaults(schema, manifestOf(kind, spec)));
      expect(problems.map((problem) => problem.field).join()).toContain(field);
    },
  );

  test.each([
    ['a list', ['LimitRanger', 'PodSecurity']],
    ['an empty list', []],
    ['one string of names joined by commas', 'LimitRanger,PodSecurity'],
    ['one name', 'LimitRanger'],
  ])('admission plugins may be %s', async (_, value) => {
    const answer = await dryRun(tenantControlPlane, withControllers(value));
    expect(answer).toMatchObject({ spec: { kubernetes: { admissionControllers: value } } });
  });
});

describe('subresources', () => {
  test('kubectl scale reads and writes the replicas of a TenantControlPlane', async () => {
    const manifest = manifestOf(tenantControlPlane, smallest);
    const { name } = manifest.metadata;
    await cluster.create(tenantControlPlane, manifest);
    const status = {
      kubernetesResources: {
        deployment: { selector: `steward.butlerlabs.dev/name=${name}`, name, namespace, replicas: 2 },
      },
    };
    const key = { namespace, name };
    await cluster.patch(tenantControlPlane, key, { type: 'merge', body: { status } }, { subresource: 'status' });
    const path = `/apis/steward.butlerlabs.dev/v1alpha1/namespaces/${namespace}/tenantcontrolplanes/${name}/scale`;
    expect(JSON.parse(await cluster.text(path))).toMatchObject({
      spec: { replicas: 2 },
      status: { replicas: 2, selector: `steward.butlerlabs.dev/name=${name}` },
    });
    await kubectl('scale', '-n', namespace, `tcp/${name}`, '--replicas=0');
    const scaled = await cluster.get(tenantControlPlane, key);
    expect(scaled?.spec.controlPlane.deployment.replicas).toBe(0);
    expect(scaled?.status?.kubernetesResources?.version).toBeUndefined();
  });

  test('kubectl scale works on a StewardControlPlane, and its status needs no field', async () => {
    const manifest = manifestOf(stewardControlPlane, { version: 'v1.36.3' });
    const { name } = manifest.metadata;
    await cluster.create(stewardControlPlane, manifest);
    await kubectl('scale', '-n', namespace, `stcp/${name}`, '--replicas=3');
    const body = { status: { versions: [{ version: 'v1.36.3', replicas: 3 }] } };
    const key = { namespace, name };
    const patched = await cluster.patch(stewardControlPlane, key, { type: 'merge', body }, { subresource: 'status' });
    expect(patched).toMatchObject({ spec: { replicas: 3 }, status: { externalManagedControlPlane: true } });
  });

  test('kubectl get shows the columns', async () => {
    const heads = (await kubectl('get', 'tcp,stcp', '-n', namespace))
      .split('\n')
      .filter((line) => line.startsWith('NAME'));
    const [tenants = '', controlPlanes = ''] = heads.map((line) => line.split(/ {2,}/).join('|'));
    expect(tenants).toBe('NAME|VERSION|INSTALLED VERSION|STATUS|CONTROL-PLANE ENDPOINT|KUBECONFIG|DATASTORE|AGE');
    expect(controlPlanes).toBe('NAME|VERSION|INITIALIZED|READY|AGE');
  });
});

describe('manifests that users have', () => {
  const directories = [join(root, 'config/samples'), join(root, 'e2e/fixtures/user-manifests')];
  const files = directories.flatMap((path) =>
    readdirSync(path)
      .filter((name) => name.endsWith('.yaml') && name !== 'kustomization.yaml')
      .map((name) => join(path, name)),
  );

  beforeAll(async () => {
    const manifest = { apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'tenants' } };
    await cluster.apply(kinds.Namespace, manifest, { fieldManager: 'steward-tests' });
  });

  test.each(files)('%s passes a dry run of create and of server-side apply', async (file) => {
    expect(await kubectl('create', '--dry-run=server', '-f', file)).toContain('created');
    expect(await kubectl('apply', '--server-side', '--dry-run=server', '-f', file)).toContain('serverside-applied');
  });
});
