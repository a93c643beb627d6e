import { kinds } from '../../api/core/kinds.ts';
import type { Condition } from '../../api/meta.ts';
import { annotations, labels, migrationJob } from '../../api/names.ts';
import { dataStore } from '../../api/steward/v1alpha1/data-store.ts';
import { tenantControlPlane } from '../../api/steward/v1alpha1/tenant-control-plane.ts';
import { issueCa } from '../../kubeadm/pki/issue.ts';
import { lifetimeFrom } from '../../kubeadm/pki/lifetime.ts';
import { StoreError } from '../../stores/store-error.ts';
import { suppliedSecret } from '../builders/supplied-secret.ts';
import { containerStatus, troubledPod } from '../builders/troubled-pod.ts';
import { MigrationWorld } from './migration-world.ts';
import { TenantWorld } from './tenant-world.ts';

/** A tenant that something is wrong with, and what a person has to be told about it. */
export interface BrokenTenant {
  readonly trouble: string;
  /** The tenant and everything around it, as the controllers leave it. */
  readonly make: () => Promise<TenantWorld>;
  /** The end of the logs of its containers, by `pod/container`. */
  readonly logs?: Readonly<Record<string, string>>;
  readonly cause: string;
  /** What the cause has to name. */
  readonly names: RegExp;
  /** What the remedy or its commands have to name. */
  readonly remedy: RegExp;
}

const key = { namespace: 'default', name: 'tenant' };
const pod = 'tenant-6d4cf56db6-x7k2p';
const owner = 'my-cluster';

/** A manager that leads at this moment. */
export async function led(world: TenantWorld): Promise<void> {
  await world.cluster.seed(kinds.Lease, {
    apiVersion: 'coordination.k8s.io/v1',
    kind: 'Lease',
    metadata: { namespace: 'steward-system', name: 'steward.butlerlabs.dev' },
    spec: {
      holderIdentity: 'steward-controller-manager-0',
      leaseDurationSeconds: 15,
      renewTime: world.clock.now().toISOString().replace('Z', '000Z'),
    },
  });
}

/** Pods that do not start, and a manager that has been waiting for a minute. */
async function withoutPods(...args: Parameters<TenantWorld['create']>): Promise<TenantWorld> {
  const world = new TenantWorld();
  world.podsStart = false;
  await world.create(...args);
  await world.settle();
  await world.reportPods({ replicas: 2, readyReplicas: 0, unavailableReplicas: 2 });
  return world;
}

async function after(world: TenantWorld, ms = 60_000): Promise<TenantWorld> {
  await world.clock.advance(ms);
  await world.settle();
  await led(world);
  return world;
}

async function withPod(status: object): Promise<TenantWorld> {
  const world = await withoutPods();
  await world.cluster.seed(kinds.Pod, troubledPod(status));
  return after(world);
}

/** A ReplicaSet whose pods are refused, and the Deployment that says so. */
async function refused(message: string): Promise<TenantWorld> {
  const world = await withoutPods();
  const condition = { type: 'ReplicaFailure', status: 'True', reason: 'FailedCreate', message };
  const conditions = [{ ...condition, lastTransitionTime: '2030-01-01T00:00:01Z' }];
  await world.cluster.seed(kinds.ReplicaSet, {
    apiVersion: 'apps/v1',
    kind: 'ReplicaSet',
    metadata: { ...key, name: 'tenant-6d4cf56db6', labels: { [labels.name]: 'tenant' } },
    status: { replicas: 0, conditions },
  });
  await world.cluster.admin.patch(
    kinds.Deployment,
    key,
    { type: 'merge', body: { status: { conditions } } },
    { subresource: 'status' },
  );
  return after(world);
}

async function running(world = new TenantWorld(), ...args: Parameters<TenantWorld['create']>): Promise<TenantWorld> {
  await world.create(...args);
  await world.settle();
  return world;
}

/** What the controller of DataStores reports about the DataStore `default`. */
async function storeReports(world: TenantWorld, ...reports: readonly (readonly string[])[]): Promise<void> {
  const conditions = reports.map(([type, status, reason, message]) => ({
    ...{ type, status, reason, message },
    lastTransitionTime: world.clock.now().toISOString(),
  })) as unknown as Condition[];
  const body = { status: { conditions } };
  await world.cluster.admin.patch(dataStore, { name: 'default' }, { type: 'merge', body }, { subresource: 'status' });
}

const deadStore = 'connect ECONNREFUSED etcd:2379';

async function unreachableStore(): Promise<TenantWorld> {
  const world = await running();
  world.store.failure = new StoreError('Unreachable', deadStore);
  world.restart();
  await storeReports(
    world,
    ['Ready', 'False', 'Unreachable', `Reachable: ${deadStore}`],
    ['Reachable', 'False', 'Unreachable', deadStore],
  );
  return after(world);
}

async function pullFails(): Promise<TenantWorld> {
  const image = 'registry.example.com/kube-apiserver:v1.36.3';
  const message = `Back-off pulling image "${image}": manifest unknown`;
  const waiting = { reason: 'ImagePullBackOff', message };
  return withPod({
    containerStatuses: [containerStatus('kube-apiserver', { image, state: { waiting } })],
  });
}

async function unfit(): Promise<TenantWorld> {
  const message = "0/3 nodes are available: 3 node(s) didn't match Pod's node affinity/selector.";
  return withPod({
    conditions: [{ type: 'PodScheduled', status: 'False', reason: 'Unschedulable', message }],
  });
}

async function crashes(): Promise<TenantWorld> {
  const world = await withoutPods({ deployment: { extraArgs: { apiServer: ['--enable-magic=true'] } } });
  const terminated = { exitCode: 1, reason: 'Error', startedAt: '2030-01-01T00:00:05Z' };
  const state = { waiting: { reason: 'CrashLoopBackOff', message: 'back-off 40s restarting failed container' } };
  const containers = [
    containerStatus('kube-apiserver', { restartCount: 3, state, lastState: { terminated } }),
    containerStatus('kube-scheduler', { ready: true, state: { running: { startedAt: '2030-01-01T00:00:05Z' } } }),
  ];
  await world.cluster.seed(kinds.Pod, troubledPod({ phase: 'Running', containerStatuses: containers }));
  return after(world);
}

async function fullStore(): Promise<TenantWorld> {
  const world = await running();
  const message = 'etcd-0: the quota of 2147483648 bytes is used up (alarm NOSPACE)';
  await storeReports(world, ['Ready', 'True', 'Ready', ''], ['Defragmented', 'False', 'SpaceExceeded', message]);
  return after(world);
}

async function heldUpgrade(): Promise<TenantWorld> {
  const world = await running(new TenantWorld(), { kubernetes: { version: 'v1.35.0' } });
  world.kubelets = ['v1.32.1', 'v1.35.0'];
  await world.change({ spec: { kubernetes: { version: 'v1.36.3' } } });
  return after(world);
}

async function foreignKey(): Promise<TenantWorld> {
  const lifetime = lifetimeFrom(new Date('2030-01-01T00:00:00Z'), 365 * 24 * 60 * 60 * 1000);
  const issue = (commonName: string) =>
    issueCa({ commonName, ca: true, usages: [] }, { algorithm: 'ECDSA-P256', lifetime });
  const [one, other] = [await issue('Example Corp CA'), await issue('Another CA')];
  const world = new TenantWorld();
  world.clusterName = owner;
  const pair = { certificate: one.certificate, key: other.key };
  await world.cluster.seed(kinds.Secret, suppliedSecret({ cluster: owner, purpose: 'ca' }, pair));
  await world.create();
  return after(world);
}

async function deletion(): Promise<TenantWorld> {
  const world = await running();
  world.store.failure = new StoreError('Unreachable', deadStore);
  world.restart();
  await storeReports(world, ['Reachable', 'False', 'Unreachable', deadStore]);
  await world.cluster.admin.delete(tenantControlPlane, key);
  return after(world);
}

async function paused(): Promise<TenantWorld> {
  const world = await running();
  await world.change({ metadata: { annotations: { [annotations.paused]: '' } } });
  return after(world);
}

async function stuckMigration(): Promise<TenantWorld> {
  const world = new MigrationWorld();
  await world.running();
  await world.moveTo('other');
  await world.reconcile();
  const { uid } = (await world.read()).metadata;
  const waiting = { reason: 'ErrImagePull', message: 'registry.example.com/steward:v2: not found' };
  await world.cluster.seed(
    kinds.Pod,
    troubledPod(
      { containerStatuses: [containerStatus('migrate', { state: { waiting } })] },
      { namespace: 'steward-system', name: 'migrate-x', labels: { 'job-name': migrationJob(uid) } },
    ),
  );
  for (let turn = 0; turn < 5; turn += 1) {
    await world.clock.advance(60_000);
    await world.reconcile();
  }
  await led(world);
  return world;
}

async function unled(): Promise<TenantWorld> {
  const world = await running();
  await led(world);
  await world.clock.advance(10 * 60_000);
  await world.change({ spec: { kubernetes: { version: 'v1.36.4' } } });
  return world;
}

const lockedOut = 'etcdserver: authentication failed, invalid user ID or password';

async function wrongCredentials(): Promise<TenantWorld> {
  const world = new TenantWorld();
  world.store.failure = new StoreError('Unauthorized', lockedOut);
  await world.create();
  await storeReports(
    world,
    ['Ready', 'False', 'Unauthorized', lockedOut],
    ['Authorized', 'False', 'Unauthorized', lockedOut],
  );
  return after(world);
}

/** Tenants with one fault each. */
export const brokenTenants: readonly BrokenTenant[] = [
  {
    trouble: 'the image is not in the registry',
    make: pullFails,
    cause: 'ImageMissing',
    names: /kube-apiserver.*registry\.example\.com\/kube-apiserver:v1\.36\.3.*manifest unknown/,
    remedy: /registrySettings.*imagePullSecrets/,
  },
  {
    trouble: 'no node fits the pods',
    make: unfit,
    cause: 'Unschedulable',
    names: /0\/3 nodes.*affinity/,
    remedy: /nodeSelector/,
  },
  {
    trouble: 'a quota refuses the pods',
    make: () =>
      refused(
        'pods "tenant-6d4cf56db6-" is forbidden: exceeded quota: small, requested: cpu=750m, used: cpu=1, limited: cpu=1',
      ),
    cause: 'QuotaExceeded',
    names: /exceeded quota: small/,
    remedy: /ResourceQuota/,
  },
  {
    trouble: 'Pod Security refuses the pods',
    make: () =>
      refused(
        'pods "tenant-6d4cf56db6-" is forbidden: violates PodSecurity "restricted:latest": hostPath volumes (volume "x")',
      ),
    cause: 'PodSecurityRefused',
    names: /hostPath/,
    remedy: /Pod Security Standard/,
  },
  {
    trouble: 'a webhook of the management cluster refuses the pods',
    make: () => refused('admission webhook "policy.example.com" denied the request: the label team is required'),
    cause: 'WebhookRefused',
    names: /policy\.example\.com.*label team/,
    remedy: /admission webhook/,
  },
  {
    trouble: 'the datastore is unreachable',
    make: unreachableStore,
    cause: 'Unreachable',
    names: /ECONNREFUSED etcd:2379/,
    remedy: /reachable from the manager/,
  },
  {
    trouble: 'the datastore rejects the credentials',
    make: wrongCredentials,
    cause: 'Unauthorized',
    names: /invalid user ID or password/,
    remedy: /credentials that the datastore accepts/,
  },
  {
    trouble: 'the datastore is full',
    make: fullStore,
    cause: 'DataStoreFull',
    names: /NOSPACE/,
    remedy: /quota-backend-bytes.*alarm disarm/s,
  },
  {
    trouble: 'the load balancer never gets an address',
    make: async () => after(await running(new TenantWorld(), { service: { serviceType: 'LoadBalancer' } }), 600_000),
    cause: 'NotExposed',
    names: /load balancer of Service tenant has no address/,
    remedy: /MetalLB.*NodePort/,
  },
  {
    trouble: 'the API server does not know one of its arguments',
    make: crashes,
    logs: { [`${pod}/kube-apiserver`]: 'Usage:\n  kube-apiserver [flags]\n\nError: unknown flag: --enable-magic\n' },
    cause: 'WrongArgument',
    names: /kube-apiserver.*unknown flag: --enable-magic/,
    remedy: /extraArgs/,
  },
  {
    trouble: 'kubelets hold the upgrade',
    make: heldUpgrade,
    cause: 'KubeletsTooOld',
    names: /node-0.*v1\.32\.1/,
    remedy: /Upgrade the kubelets.*upgrade-anyway/,
  },
  {
    trouble: 'the key that a user supplied does not match the certificate',
    make: foreignKey,
    cause: 'SuppliedSecretInvalid',
    names: /my-cluster-ca/,
    remedy: /tls\.key is its key/,
  },
  {
    trouble: 'the deletion waits for the datastore',
    make: deletion,
    cause: 'WaitingForStore',
    names: /ECONNREFUSED etcd:2379/,
    remedy: /Repair the DataStore.*Do not remove the finalizer.*abandon-data/,
  },
  {
    trouble: 'the reconcile is paused',
    make: paused,
    cause: 'Paused',
    names: /steward\.butlerlabs\.dev\/paused/,
    remedy: /annotate tcp tenant steward\.butlerlabs\.dev\/paused-/,
  },
  {
    trouble: 'the migration does not get on',
    make: stuckMigration,
    cause: 'MigrationStuck',
    names: /registry\.example\.com\/steward:v2/,
    remedy: /spec\.dataStore back to the source/,
  },
  {
    trouble: 'no manager runs',
    make: unled,
    cause: 'ManagerNotRunning',
    names: /steward-controller-manager-0 no longer renews/,
    remedy: /Start the manager.*get pods,leases/s,
  },
];
