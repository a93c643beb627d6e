import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { kinds } from '../../api/core/kinds.ts';
import { apiVersionOf } from '../../api/meta.ts';
import { labels, tenantObjects } from '../../api/names.ts';
import { controlPlaneClaim } from '../../api/steward/v1alpha1/pool/control-plane-claim.ts';
import type { ControlPlaneClaim } from '../../api/steward/v1alpha1/pool/control-plane-claim.ts';
import { controlPlanePool } from '../../api/steward/v1alpha1/pool/control-plane-pool.ts';
import type { ControlPlanePool } from '../../api/steward/v1alpha1/pool/control-plane-pool.ts';
import { isUnclaimed } from '../../api/steward/v1alpha1/pool/prepared.ts';
import { tenantControlPlane } from '../../api/steward/v1alpha1/tenant-control-plane.ts';
import type { TenantControlPlane } from '../../api/steward/v1alpha1/tenant-control-plane.ts';
import { kubeconfig } from '../../kubeadm/kubeconfig.ts';
import { issueCa } from '../../kubeadm/pki/issue.ts';
import { caValidityMs, lifetimeFrom } from '../../kubeadm/pki/lifetime.ts';
import { authorityProfiles } from '../../kubeadm/pki/profiles.ts';
import { InformerFactory } from '../../runtime/cache/informer-factory.ts';
import { ObjectMemory } from '../../runtime/cache/object-memory.ts';
import type { Cluster } from '../../runtime/client/cluster.ts';
import { ApiError } from '../../runtime/client/errors.ts';
import { openCluster } from '../../runtime/client/http-cluster.ts';
import { parseKubeconfig } from '../../runtime/client/kubeconfig.ts';
import { systemClock } from '../../runtime/clock.ts';
import { EventRecorder } from '../../runtime/observe/event-recorder.ts';
import { silent } from '../../runtime/observe/logger.ts';
import { Manager } from '../../runtime/reconcile/manager.ts';
import { patient } from '../../testing/patient.ts';
import { startApiServer } from '../../testing/servers/api-server.ts';
import type { ApiServer } from '../../testing/servers/api-server.ts';
import { grantUser } from '../../testing/servers/grant-user.ts';
import { installKinds } from '../../testing/servers/install-kinds.ts';
import { plainTemplate } from '../../testing/worlds/pool/pool-world.ts';
import { access as poolAccess } from '../controlplanepool/access.ts';
import { controlPlanePoolController } from '../controlplanepool/controller.ts';
import { access } from './access.ts';
import { controlPlaneClaimController } from './controller.ts';

const namespace = 'team';
const rounds = 6;

let server: ApiServer;
let admin: Cluster;
const managers: AsyncDisposable[] = [];

/** A manager with the rights that the controllers declare; nobody elects a leader among several. */
async function startManager(user: string): Promise<AsyncDisposable> {
  const pair = await server.clientPair(user);
  const connection = { ...parseKubeconfig(server.kubeconfig), clientCert: pair.certificate, clientKey: pair.key };
  const cluster = openCluster(connection, { name: 'management' });
  const parts = { cluster, clock: systemClock, log: silent };
  const informers = new InformerFactory(parts);
  const memory = new ObjectMemory();
  const lists = {
    tenants: () => informers.informer({ kind: tenantControlPlane }).list(),
    pools: () => informers.informer({ kind: controlPlanePool, optional: true }).list(),
    claims: () => informers.informer({ kind: controlPlaneClaim, optional: true }).list(),
  };
  let names = 0;
  const newSuffix = (): string => `${user}-${(names += 1)}`;
  const manager = new Manager({
    ...{ memory, ...parts, informers },
    controllers: [
      controlPlanePoolController({ cluster, newSuffix, ...lists }),
      controlPlaneClaimController({ cluster, renewBeforeMs: 0, bound: () => undefined, ...lists }),
    ],
    events: new EventRecorder({ memory, ...parts, controller: user, instance: user }),
  });
  await manager.start();
  return {
    async [Symbol.asyncDispose]() {
      await manager.stop(0);
      await informers.close();
      await cluster.close();
    },
  };
}

beforeAll(async () => {
  server = await startApiServer();
  admin = openCluster(parseKubeconfig(server.kubeconfig), { name: 'management' });
  await installKinds(admin, [tenantControlPlane, controlPlanePool, controlPlaneClaim]);
  await admin.create(kinds.Namespace, { apiVersion: 'v1', kind: 'Namespace', metadata: { name: namespace } });
  for (const user of ['one', 'two']) {
    await grantUser(admin, user, [
      ...access,
      ...poolAccess,
      { apiGroups: ['events.k8s.io'], resources: ['events'], verbs: ['*'] },
    ]);
    managers.push(await startManager(user));
  }
}, 180_000);

afterAll(async () => {
  for (const manager of managers) await manager[Symbol.asyncDispose]();
  await admin.close();
  await server.stop();
}, 60_000);

/** What `read` returns, once there is something. Watches make it so; how soon depends on the machine. */
async function until<T>(what: string, read: () => Promise<T | undefined>): Promise<T> {
  const latest = performance.now() + patient(30_000);
  while (performance.now() < latest) {
    const found = await read();
    if (found !== undefined) return found;
  }
  throw new Error(`waited in vain for ${what}`);
}

const tenants = async (): Promise<readonly TenantControlPlane[]> =>
  (await admin.list(tenantControlPlane, { namespace })).items;

async function thePool(): Promise<ControlPlanePool> {
  const found = await admin.get(controlPlanePool, { namespace, name: 'small' });
  if (found === undefined) throw new Error('there is no pool');
  return found;
}

/** One control plane of the pool becomes Ready, as its controller makes it. */
async function prepareOne(): Promise<string> {
  const pool = await thePool();
  // If both managers have created one, the pool gives up one of them.
  const { metadata } = await until('one control plane that is prepared', async () => {
    const [first, ...others] = (await tenants()).filter((tcp) => isUnclaimed(tcp, pool));
    return others.length === 0 && first?.status?.conditions === undefined ? first : undefined;
  });
  const { name, generation } = metadata;
  const algorithm = 'ECDSA-P256';
  const ca = await issueCa(authorityProfiles.ca, { algorithm, lifetime: lifetimeFrom(new Date(), caValidityMs) });
  const config = { clusterName: name, server: 'https://192.0.2.1:6443', ca: ca.certificate, user: 'admin', client: ca };
  const secrets = {
    [tenantObjects(name).ca]: { 'ca.crt': ca.certificate, 'ca.key': ca.key },
    [tenantObjects(name).adminKubeconfig]: { 'admin.conf': kubeconfig(config) },
  };
  for (const [called, stringData] of Object.entries(secrets)) {
    const meta = { name: called, namespace };
    await admin.create(kinds.Secret, { apiVersion: 'v1', kind: 'Secret', metadata: meta, stringData });
  }
  const lastTransitionTime = new Date().toISOString();
  const ready = { type: 'Ready', status: 'True', reason: 'Ready', message: '', lastTransitionTime };
  const body = { status: { observedGeneration: generation, conditions: [ready] } };
  const options = { subresource: 'status' } as const;
  try {
    await admin.patch(tenantControlPlane, { namespace, name }, { type: 'merge', body }, options);
    return name;
  } catch (error) {
    // The other manager has created one meanwhile, and this one was given up.
    if (error instanceof ApiError && error.code === 404) return prepareOne();
    throw error;
  }
}

const claims = async (): Promise<readonly ControlPlaneClaim[]> =>
  (await admin.list(controlPlaneClaim, { namespace })).items;
const isBound = ({ status }: ControlPlaneClaim): boolean =>
  status?.conditions?.some(({ type, status: is }) => type === 'Bound' && is === 'True') === true;
const waits = ({ status }: ControlPlaneClaim): boolean =>
  status?.conditions?.some(({ type, reason }) => type === 'Bound' && reason === 'NoneReady') === true;

test('of two claims for one prepared control plane one gets it, whichever manager works for it', async () => {
  await admin.create(controlPlanePool, {
    ...{ apiVersion: apiVersionOf(controlPlanePool), kind: 'ControlPlanePool' },
    metadata: { name: 'small', namespace },
    spec: { template: plainTemplate, minReady: 1 },
  });
  const prepared: string[] = [];
  for (let round = 0; round < rounds; round += 1) {
    prepared.push(await prepareOne());
    const made = ['a', 'b'].map((letter) =>
      admin.create(controlPlaneClaim, {
        ...{ apiVersion: apiVersionOf(controlPlaneClaim), kind: 'ControlPlaneClaim' },
        metadata: { name: `${letter}-${round}`, namespace },
        spec: { pool: 'small' },
      }),
    );
    await Promise.all(made);
    const both = await until('one bound claim and one that waits', async () => {
      const found = await claims();
      const [bound, waiting] = [found.filter(isBound), found.filter(waits)];
      return bound.length === 2 * round + 1 && waiting.length === 1 ? { bound, waiting } : undefined;
    });
    const names = both.bound.map(({ status }) => status?.tenantControlPlane);
    expect(new Set(names).size).toBe(2 * round + 1);
    expect(both.waiting[0]?.status?.tenantControlPlane).toBeUndefined();
    // The next one that becomes Ready goes to the claim that waits, without anybody asking again.
    prepared.push(await prepareOne());
    await until('the other claim to be bound', async () => {
      const found = await claims();
      return found.filter(isBound).length === 2 * round + 2 ? found : undefined;
    });
  }
  const given = await claims();
  const names = given.map(({ status }) => status?.tenantControlPlane ?? '');
  expect(new Set(names).size).toBe(2 * rounds);
  expect([...names].sort()).toEqual([...prepared].sort());
  const owners = new Map((await tenants()).map((tcp) => [tcp.metadata.name, tcp.metadata]));
  for (const { metadata, status } of given) {
    const tcp = owners.get(status?.tenantControlPlane ?? '');
    expect(tcp?.labels?.[labels.claimedBy]).toBe(metadata.uid);
    expect(tcp?.ownerReferences?.map(({ uid }) => uid)).toEqual([metadata.uid]);
  }
  // Two managers may have created one each, of which one stays.
  const pool = await thePool();
  await until('one control plane in reserve', async () => {
    const left = (await tenants()).filter((tcp) => isUnclaimed(tcp, pool));
    return left.length === 1 ? left : undefined;
  });
}, 180_000);
