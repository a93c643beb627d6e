import { beforeAll, describe, expect, test } from '@jest/globals';

import type { ObjectAddress, PlainObject } from '../cluster/kubernetes-client.ts';
import type { ManagementCluster } from '../cluster/management-cluster.ts';
import { scenarioResources } from '../framework/scenario-resources.ts';
import { shareStewardCluster } from '../framework/steward-cluster.ts';
import type { StewardCluster } from '../framework/steward-cluster.ts';
import { storeContents } from '../framework/store-contents.ts';
import { logStep } from '../framework/log.ts';
import { conditionOf, isCondition, TenantStage } from '../framework/tenant-stage.ts';
import { deadlineIn } from '../framework/deadline-in.ts';
import { minutes } from '../framework/minutes.ts';
import { kubectlTimeout } from '../framework/kubectl-timeout.ts';

const owned = scenarioResources();
const system = 'steward-system';
const store: ObjectAddress = { apiVersion: 'steward.butlerlabs.dev/v1alpha1', kind: 'DataStore', name: 'default' };
const etcd: ObjectAddress = { apiVersion: 'apps/v1', kind: 'StatefulSet', namespace: system, name: 'etcd' };

let steward: StewardCluster;
let cluster: ManagementCluster;
let stage: TenantStage;

beforeAll(async () => {
  steward = owned.use(await shareStewardCluster(owned.harness(`faults-${process.pid}`), logStep));
  cluster = steward.cluster;
  stage = new TenantStage(cluster, 'faults');
  await cluster.apply([{ apiVersion: 'v1', kind: 'Namespace', metadata: { name: stage.namespace } }]);
}, 20 * minutes);

const kubectl = async (...args: readonly string[]): Promise<string> => (await cluster.kubectl(args)).stdout;
const since = (began: number): string => `after ${((performance.now() - began) / 1000).toFixed(1)} s`;

async function scaleEtcd(replicas: number): Promise<void> {
  await cluster.client.merge(etcd, { spec: { replicas } });
  await cluster.waitFor(etcd, (object) => (object?.status?.replicas ?? 0) === replicas);
  const pod: ObjectAddress = { apiVersion: 'v1', kind: 'Pod', namespace: system, name: 'etcd-0' };
  await (replicas === 0 ? cluster.waitFor(pod, (object) => object === undefined) : cluster.waitFor(pod, 'Ready'));
}

/** A tenant's pods, except terminating ones, with the number of restarts of their API servers. */
async function podsOf(tenant: string): Promise<readonly unknown[]> {
  const stays = ({ metadata }: PlainObject): boolean => !('deletionTimestamp' in (metadata ?? {}));
  return (await stage.pods(tenant)).filter(stays).map(({ metadata, status }) => {
    const containers = (status?.containerStatuses ?? []) as { name: string; restartCount: number }[];
    const restarts = containers.find(({ name }) => name === 'kube-apiserver')?.restartCount;
    return [metadata?.uid, restarts];
  });
}

const deploymentOf = (tenant: string): ObjectAddress => stage.at('Deployment', tenant, 'apps/v1');
const templateOf = (deployment: PlainObject | undefined): string =>
  JSON.stringify((deployment?.spec as { readonly template?: unknown } | undefined)?.template);

/** Waits until every pod of a tenant has the newest template, and is other than `before` if that is given. */
async function rolledOut(tenant: string, before?: string): Promise<void> {
  await cluster.waitFor(deploymentOf(tenant), (deployment) => {
    const { metadata, spec, status } = deployment ?? {};
    const counts = [status?.replicas, status?.updatedReplicas, status?.availableReplicas];
    const settled =
      status?.observedGeneration === metadata?.generation && counts.every((each) => each === spec?.replicas);
    return settled && templateOf(deployment) !== before;
  });
}

/** Puts nonsense or what was there before into a Secret. */
async function write(secret: string, data: Readonly<Record<string, string>>): Promise<void> {
  const encoded = Object.entries(data).map(([key, value]) => [key, Buffer.from(value).toString('base64')]);
  await cluster.client.merge(stage.at('Secret', secret), { data: Object.fromEntries(encoded) });
}

describe('Bad input is refused with field, value, reason and fix', () => {
  beforeAll(async () => {
    const asleep = { deployment: { replicas: 0 }, service: { serviceType: 'ClusterIP' } };
    await cluster.apply([
      stage.manifest('old', { controlPlane: asleep, kubernetes: { version: 'v1.34.1', kubelet: {} } }),
    ]);
    await stage.waitFor('old', isCondition('Ready', 'False', 'Sleeping'));
  }, minutes);

  const kubernetes = (more: object): object => ({ kubernetes: { version: 'v1.36.3', kubelet: {}, ...more } });
  const network = (networkProfile: object): object => ({ networkProfile });

  test.each<[string, string, object, RegExp]>([
    [
      'a version',
      'new',
      kubernetes({ version: '1.36' }),
      /spec\.kubernetes\.version "1\.36" is not .*: use a full version/,
    ],
    [
      'a version that is not supported',
      'new',
      kubernetes({ version: 'v1.99.0' }),
      /spec\.kubernetes\.version "v1\.99\.0" .*: /,
    ],
    ['a downgrade', 'old', kubernetes({ version: 'v1.33.0' }), /spec\.kubernetes\.version "v1\.33\.0" .*v1\.34\.1.*: /],
    ['a skipped minor', 'old', kubernetes({ version: 'v1.36.3' }), /spec\.kubernetes\.version "v1\.36\.3" .*skips.*: /],
    [
      'a range',
      'new',
      network({ serviceCidr: '10.300.0.0/16' }),
      /spec\.networkProfile\.serviceCidr "10\.300\.0\.0\/16" .*: /,
    ],
    [
      'ranges that overlap',
      'new',
      network({ serviceCidr: '10.96.0.0/16', podCidr: '10.96.128.0/17' }),
      /spec\.networkProfile\.podCidr "10\.96\.128\.0\/17" overlaps .*: use networks/,
    ],
    [
      'a SAN with a port',
      'new',
      network({ certSANs: ['api.example.com:6443'] }),
      /spec\.networkProfile\.certSANs\S* "api\.example\.com:6443" .*: /,
    ],
    [
      'a port in use',
      'new',
      network({ port: 10257 }),
      /spec\.networkProfile\.port "10257" is used by kube-controller-manager.*: use/,
    ],
    [
      'a DataStore',
      'new',
      { dataStore: 'nowhere' },
      /spec\.dataStore "nowhere" names a DataStore that does not exist: create it/,
    ],
    [
      'address types that are there twice',
      'new',
      kubernetes({ kubelet: { preferredAddressTypes: ['InternalIP', 'InternalIP'] } }),
      /spec\.kubernetes\.kubelet\.preferredAddressTypes.*InternalIP/s,
    ],
    ['a name', '1st', {}, /metadata\.name "1st" is not a DNS-1035 label.*: use/],
    [
      'a flag',
      'new',
      {
        controlPlane: {
          deployment: { replicas: 1, extraArgs: { apiServer: ['v=4'] } },
          service: { serviceType: 'ClusterIP' },
        },
      },
      /spec\.controlPlane\.deployment\.extraArgs\.apiServer\[0\] "v=4" is not a flag: write/,
    ],
    [
      'a plugin that is gone',
      'new',
      kubernetes({ admissionControllers: 'PodSecurityPolicy' }),
      /spec\.kubernetes\.admissionControllers.*PodSecurityPolicy/s,
    ],
  ])('%s', async (_what, name, spec, expected) => {
    const said = await stage.refusal(stage.manifest(name, { ...spec }));
    logStep('refused:', said?.split('\n').slice(1).join(' ').slice(0, 400));
    expect(said).toMatch(expected);
  });
});

describe('A DataStore that is down', () => {
  test(
    'is reported on it and on its tenants, harms no running tenant, and blocks only what needs it until it is back',
    async () => {
      await cluster.apply([stage.manifest('steady'), stage.manifest('doomed')]);
      await Promise.all(['steady', 'doomed'].map((name) => stage.waitFor(name, 'Ready')));
      const before = await podsOf('steady');
      await scaleEtcd(0);
      const began = performance.now();
      await cluster.client.delete(stage.tenant('doomed'));
      await cluster.apply([stage.manifest('late')]);
      const seen = await cluster.waitFor(store, isCondition('Ready', 'False', 'Unreachable'));
      logStep('the DataStore says', `${since(began)}: ${conditionOf(seen, 'Ready')?.message}`);
      const steady = await stage.waitFor('steady', isCondition('StoreReady', 'False', 'Unreachable'));
      logStep(
        'its tenant says',
        `${since(began)}: ${JSON.stringify(steady.conditions?.find(({ type }) => type === 'StoreReady'))}`,
      );
      await stage.waitFor('late', isCondition('StoreReady', 'False', 'Unreachable'));
      const doomed = await stage.waitFor('doomed', isCondition('Deleting', 'True', 'WaitingForStore'));
      const waiting = doomed.conditions?.find(({ type }) => type === 'Deleting')?.message;
      expect(waiting).toMatch(/the data cannot be removed: DataStore default: .*abandon-data/);
      logStep('a deleted tenant says', waiting);
      // Longer than any probe's patience: an API server that is restarted serves later, not sooner.
      while (performance.now() - began < 45_000) expect(await podsOf('steady')).toEqual(before);

      await scaleEtcd(1);
      const back = performance.now();
      await cluster.waitFor(store, 'Ready');
      logStep('the DataStore is back', since(back));
      await stage.gone(stage.tenant('doomed'));
      logStep('the deleted tenant is gone', since(back));
      await stage.waitFor('steady', 'Ready');
      await stage.waitFor('late', 'Ready');
      logStep('all others are Ready', since(back));
      expect(await podsOf('steady')).toEqual(before);
    },
    6 * minutes,
  );

  test(
    'has a different message if credentials are missing or broken, with the name of the Secret',
    async () => {
      const name = 'strange';
      const at = { ...store, name };
      const secretReference = { name: 'strange-certs', namespace: stage.namespace };
      const content = (keyPath: string): object => ({ secretReference: { ...secretReference, keyPath } });
      const tlsConfig = {
        certificateAuthority: { certificate: content('ca.crt'), privateKey: content('ca.key') },
        clientCertificate: { certificate: content('tls.crt'), privateKey: content('tls.key') },
      };
      const endpoints = [`etcd-0.etcd.${system}.svc.cluster.local:2379`];
      const { apiVersion, kind } = store;
      await cluster.apply([{ apiVersion, kind, metadata: { name }, spec: { driver: 'etcd', endpoints, tlsConfig } }]);
      const missing = await cluster.waitFor(at, isCondition('Ready', 'False', 'CredentialsMissing'));
      expect(conditionOf(missing, 'Ready')?.message).toContain('faults/strange-certs');
      logStep('without its Secret:', conditionOf(missing, 'Ready')?.message);

      const keys = ['ca.crt', 'ca.key', 'tls.crt', 'tls.key'];
      const stringData = Object.fromEntries(keys.map((key) => [key, 'nonsense']));
      const metadata = { name: secretReference.name, namespace: secretReference.namespace };
      await cluster.apply([{ apiVersion: 'v1', kind: 'Secret', metadata, stringData }]);
      const broken = await cluster.waitFor(at, isCondition('Ready', 'False', 'CredentialsInvalid'));
      logStep('with a broken one:', conditionOf(broken, 'Ready')?.message);

      // The CA is the right one, but the client certificate is a tenant's, which may not administer.
      const root = await new TenantStage(cluster, system).secret('etcd-certs');
      const tenant = await stage.secret('steady-datastore-certificate');
      const pair = { 'tls.crt': tenant['server.crt'] ?? '', 'tls.key': tenant['server.key'] ?? '' };
      await write(secretReference.name, { ...root, ...pair });
      const refused = await cluster.waitFor(at, isCondition('Ready', 'False', 'Unauthorized'));
      logStep('with those of a tenant:', conditionOf(refused, 'Ready')?.message);
      await write(secretReference.name, root);
      await cluster.waitFor(at, 'Ready');
      await cluster.client.delete(at);
      await cluster.waitFor(at, (object) => object === undefined);
    },
    2 * minutes,
  );

  test(
    'cannot be deleted while a tenant uses it, nor can the Secret with its certificates',
    async () => {
      const refusalOf = (...args: readonly string[]): Promise<string> =>
        kubectl('delete', '--dry-run=server', ...args).then(
          (text) => text,
          (error: unknown) => (error as Error).message,
        );
      const ofStore = await refusalOf('datastore', 'default');
      expect(ofStore).toMatch(/default.*holds the data of .*faults\/steady.*: delete these TenantControlPlanes/s);
      const ofSecret = await refusalOf('-n', system, 'secret', 'etcd-certs');
      expect(ofSecret).toMatch(/etcd-certs.*DataStore.*default/s);
      logStep('refused:', `${ofStore} ${ofSecret}`);
    },
    minutes,
  );
});

describe('A Secret that a person broke', () => {
  const told = async (pattern: RegExp): Promise<void> => {
    const deadline = deadlineIn(minutes / 4);
    while (!(await stage.events('steady')).some((note) => pattern.test(note))) {
      if (Date.now() > deadline)
        throw new Error(`no Event is like ${pattern}: ${(await stage.events('steady')).join(' | ')}`);
    }
  };

  test.each([
    ['a certificate', 'steady-api-server-certificate', 'apiserver.crt', /BEGIN CERTIFICATE/],
    ['a kubeconfig', 'steady-admin-kubeconfig', 'admin.conf', /current-context/],
    ['the certificate for the store', 'steady-datastore-certificate', 'server.crt', /BEGIN CERTIFICATE/],
  ])(
    'is repaired if it contains %s',
    async (_what, secret, key, good) => {
      await stage.waitFor('steady', 'Ready');
      const before = templateOf(await cluster.client.read(deploymentOf('steady')));
      const first = (await stage.secret(secret))[key];
      const began = performance.now();
      await write(secret, { [key]: 'nonsense' });
      const isRepaired = (object: PlainObject | undefined): boolean =>
        good.test(Buffer.from(object?.data?.[key] ?? '', 'base64').toString());
      await cluster.waitFor(stage.at('Secret', secret), isRepaired, { diagnose: () => stage.diagnose('steady') });
      logStep(`${secret} is repaired`, since(began));
      // A pass that had read the good one before puts that back: nothing is renewed then, and pods need no other.
      const isRenewed = (await stage.secret(secret))[key] !== first;
      logStep(secret, isRenewed ? 'has another content' : 'has the content from before');
      if (isRenewed && !secret.includes('datastore')) await told(new RegExp(`^CertificateRenewed: .*${secret}`));
      // A pod that starts meanwhile could mount the nonsense of the next row.
      await rolledOut('steady', isRenewed && !secret.includes('admin') ? before : undefined);
      await stage.waitFor('steady', 'Ready');
      const client = await stage.open('steady');
      await client.list('v1', 'Namespace');
    },
    3 * minutes,
  );

  test(
    'is reported and not changed if it contains the CA, and everything continues when it is restored',
    async () => {
      await rolledOut('steady');
      const before = await podsOf('steady');
      const good = await stage.secret('steady-ca');
      await write('steady-ca', Object.fromEntries(Object.keys(good).map((key) => [key, 'nonsense'])));
      const { conditions = [] } = await stage.waitFor(
        'steady',
        isCondition('CertificatesReady', 'False', 'SecretBroken'),
      );
      const said = conditions.find(({ type }) => type === 'CertificatesReady')?.message;
      expect(said).toMatch(/Secret steady-ca cannot be used .*restore it from a backup/);
      logStep('the tenant says', said);
      await told(/^SecretBroken: .*steady-ca/);
      expect((await stage.secret('steady-ca'))['ca.crt']).toBe('nonsense');
      await write('steady-ca', good);
      await stage.waitFor('steady', 'Ready');
      expect(await podsOf('steady')).toEqual(before);
    },
    2 * minutes,
  );
});

describe('An API server of the management cluster that is killed', () => {
  test(
    'while tenants are created is noticed, and nothing is missed',
    async () => {
      const before = await podsOf('steady');
      const began = performance.now();
      await cluster.apply([stage.manifest('first'), stage.manifest('second')]);
      await cluster.killApiServer();
      logStep('killed and back', since(began));
      await cluster.apply([stage.manifest('third')]);
      await Promise.all(
        ['first', 'second', 'third'].map((name) => stage.waitFor(name, 'Ready', { timeoutMs: 180_000 })),
      );
      logStep('all three are Ready', since(began));
      await cluster.killApiServer();
      const again = performance.now();
      await cluster.client.delete(stage.at('Deployment', 'second', 'apps/v1'));
      await kubectl('-n', stage.namespace, 'scale', 'tcp/first', '--replicas=0');
      await stage.waitFor('first', isCondition('Ready', 'False', 'Sleeping'));
      await cluster.waitFor(stage.at('Deployment', 'second', 'apps/v1'), (object) => object !== undefined);
      await stage.waitFor('second', 'Ready');
      logStep('what came after the next kill is seen', since(again));
      expect(await podsOf('steady')).toEqual(before);
    },
    6 * minutes,
  );
});

describe('Deleted tenants', () => {
  test(
    'leave no object behind and no key, user or role in the datastore, even if they were incomplete',
    async () => {
      const half = { controlPlane: { deployment: { replicas: 1 }, service: { serviceType: 'LoadBalancer' } } };
      await cluster.apply([
        stage.manifest('half', { ...half, networkProfile: { loadBalancerClass: 'example.com/none' } }),
      ]);
      await stage.waitFor('half', isCondition('StoreReady', 'True'));
      const full = await storeContents(cluster);
      const found = { keys: full.keys.length, users: full.users.length, roles: full.roles.length };
      logStep('the store holds', JSON.stringify(found));
      expect(found.keys).toBeGreaterThan(100);
      expect(found.users).toBeGreaterThan(5);
      const began = performance.now();
      // One more that is deleted while it begins.
      await cluster.apply([stage.manifest('brief')]);
      await kubectl('-n', stage.namespace, 'delete', 'tcp', '--all', kubectlTimeout(120));
      logStep('all are deleted', since(began));
      expect(await storeContents(cluster)).toEqual({ keys: [], users: ['root'], roles: ['root'] });
      const kinds = 'deployments,replicasets,pods,services,secrets,configmaps,endpointslices';
      const label = 'steward.butlerlabs.dev/name';
      const left = (): Promise<string> => kubectl('-n', stage.namespace, 'get', kinds, '-l', label, '-o', 'name');
      const deadline = deadlineIn(minutes / 2);
      while ((await left()) !== '') {
        if (Date.now() > deadline) throw new Error(`left: ${await left()}`);
      }
    },
    4 * minutes,
  );
});
