import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { kinds } from '../../../api/core/kinds.ts';
import type { Resource } from '../../../api/meta.ts';
import { dataStore } from '../../../api/steward/v1alpha1/data-store.ts';
import { retainedControlPlane } from '../../../api/steward/v1alpha1/retained-control-plane.ts';
import { tenantControlPlane } from '../../../api/steward/v1alpha1/tenant-control-plane.ts';
import type { TenantControlPlane } from '../../../api/steward/v1alpha1/tenant-control-plane.ts';
import { tenantControlPlaneController } from '../../../controllers/tenantcontrolplane/controller.ts';
import { ownedKinds } from '../../../controllers/tenantcontrolplane/watches.ts';
import { newestMinor } from '../../../kubeadm/versions.ts';
import { ObjectMemory } from '../../../runtime/cache/object-memory.ts';
import type { Cluster } from '../../../runtime/client/cluster.ts';
import { openCluster } from '../../../runtime/client/http-cluster.ts';
import { parseKubeconfig } from '../../../runtime/client/kubeconfig.ts';
import { silent } from '../../../runtime/observe/logger.ts';
import type { Reconciler } from '../../../runtime/reconcile/reconciler.ts';
import { secretReader } from '../../../stores/secret-reader.ts';
import { Sessions } from '../../../stores/sessions.ts';
import { StoreAccess } from '../../../stores/store-access.ts';
import { TenantPool } from '../../../tenants/pool.ts';
import { emptyInformers } from '../../../testing/fake/empty-informers.ts';
import { FakeClock } from '../../../testing/fake/fake-clock.ts';
import { FakeCluster } from '../../../testing/fake/fake-cluster.ts';
import { MemoryStore } from '../../../testing/fake/memory-driver.ts';
import { startApiServer } from '../../../testing/servers/api-server.ts';
import type { ApiServer } from '../../../testing/servers/api-server.ts';
import { installKinds } from '../../../testing/servers/install-kinds.ts';
import { worldReconciler } from '../../../testing/worlds/world-reconciler.ts';
import { clusterReader } from '../explain/cluster-reader.ts';
import { fieldChanges } from './field-changes.ts';
import type { FieldChange } from './field-changes.ts';
import { mergePatched } from './merge-patched.ts';
import { planChange } from './plan-change.ts';

const own = { namespace: 'default', name: 'tenant' };
const store = new MemoryStore();
const clock = new FakeClock(new Date());
const tenant = new FakeCluster();
tenant.close = () => Promise.resolve();

/** The datastore in memory reads none of it. */
const content = Buffer.from('unread').toString('base64');

let server: ApiServer;
let admin: Cluster;
let reconciler: Reconciler;

beforeAll(async () => {
  server = await startApiServer();
  admin = openCluster(parseKubeconfig(server.kubeconfig), { name: 'management' });
  await installKinds(admin, [dataStore, retainedControlPlane, tenantControlPlane]);
  await admin.create(dataStore, {
    apiVersion: 'steward.butlerlabs.dev/v1alpha1',
    kind: 'DataStore',
    metadata: { name: 'default' },
    spec: {
      driver: 'etcd',
      endpoints: ['etcd:2379'],
      // No controller of DataStores verifies it here.
      isolationPolicy: 'Report',
      tlsConfig: {
        certificateAuthority: { certificate: { content }, privateKey: { content } },
        clientCertificate: { certificate: { content }, privateKey: { content } },
      },
    },
  });
  const controller = tenantControlPlaneController({
    memory: new ObjectMemory(),
    cluster: admin,
    clock,
    informers: emptyInformers,
    stores: new StoreAccess({
      drivers: [store.driver],
      sessions: new Sessions({ clock }),
      read: secretReader((key) => admin.get(kinds.Secret, key)),
    }),
    pool: new TenantPool({ memory: new ObjectMemory(), clock, open: () => tenant }),
  });
  reconciler = worldReconciler(controller, { cluster: admin, clock, events: [] });
  await admin.create(tenantControlPlane, {
    apiVersion: 'steward.butlerlabs.dev/v1alpha1',
    kind: 'TenantControlPlane',
    metadata: own,
    spec: {
      dataStore: 'default',
      controlPlane: { deployment: { replicas: 2 }, service: { serviceType: 'ClusterIP' } },
      kubernetes: { version: 'v1.36.3' },
      networkProfile: { address: '192.0.2.1', dnsServiceIPs: ['10.96.0.10'] },
      addons: { coreDNS: {} },
    },
  });
  await settle();
}, 180_000);

afterAll(async () => {
  await admin.close();
  await server.stop();
}, 60_000);

async function read(): Promise<TenantControlPlane> {
  const found = await admin.get(tenantControlPlane, own);
  if (found === undefined) throw new Error('the TenantControlPlane is gone');
  return found;
}

async function startPods(): Promise<void> {
  const found = await admin.get(kinds.Deployment, own);
  if (found === undefined) return;
  const replicas = found.spec?.replicas ?? 0;
  const counts = { replicas, updatedReplicas: replicas, readyReplicas: replicas, availableReplicas: replicas };
  const body = { status: { observedGeneration: found.metadata.generation, ...counts } };
  await admin.patch(kinds.Deployment, own, { type: 'merge', body }, { subresource: 'status' });
}

async function settle(): Promise<void> {
  for (let step = 0; step < 12; step += 1) {
    await reconciler.reconcile(await read(), silent);
    await startPods();
    if (step % 4 === 3) await clock.advance(60_000);
  }
}

/** What Steward owns in the namespace, by kind and name. */
async function owned(): Promise<ReadonlyMap<string, Resource>> {
  const lists = await Promise.all(
    ownedKinds
      // Kinds that a cluster may lack, as this one does.
      .filter(({ optional }) => optional !== true)
      .map(async ({ kind }) => {
        const { items } = await admin.list<Resource>(kind, { namespace: own.namespace });
        return items.map((item) => [`${kind.kind}/${item.metadata.name}`, item] as const);
      }),
  );
  return new Map(lists.flat().filter(([, { metadata }]) => metadata.name.startsWith(own.name)));
}

/** One line for an object, with the names of its fields; none for a change of nothing. */
function lineOf(action: string, id: string, fields: readonly FieldChange[]): readonly string[] {
  const names = fields.map(({ field }) => field).sort();
  return action === 'change' && names.length === 0 ? [] : [[action, id, ...names].join(' ')];
}

const changes = [
  { change: 'a version', body: { spec: { kubernetes: { version: 'v1.36.4' } } } },
  {
    change: 'an argument, resources and a volume',
    body: {
      spec: {
        controlPlane: {
          deployment: {
            extraArgs: { apiServer: ['--v=4'] },
            resources: { scheduler: { requests: { cpu: '0.25', memory: '128Mi' } } },
            additionalVolumes: [{ name: 'policies', configMap: { name: 'policies' } }],
            additionalVolumeMounts: { apiServer: [{ name: 'policies', mountPath: '/policies' }] },
          },
        },
      },
    },
  },
  { change: 'one replica', body: { spec: { controlPlane: { deployment: { replicas: 1 } } } } },
  {
    change: 'the end of arguments, a label and an annotation',
    body: {
      spec: {
        controlPlane: {
          deployment: { extraArgs: null, additionalMetadata: { labels: { team: 'blue' } } },
          service: { additionalMetadata: { labels: { team: 'blue' } } },
        },
      },
    },
  },
  { change: 'a name in the certificate', body: { spec: { networkProfile: { certSANs: ['api.example.com'] } } } },
] as const;

describe('With a real API server, whose defaults are in every object, a plan predicts what comes of', () => {
  test.each(changes)('$change', async ({ body }) => {
    const plan = await planChange({
      reader: clusterReader(admin),
      settings: { managerNamespace: 'steward-system', drivers: [store.driver], defaultDataStore: '', newestMinor },
      now: clock.now(),
      changed: mergePatched(await read(), body) as TenantControlPlane,
      tenant: {},
    });
    expect(plan.refused).toBeUndefined();
    const before = await owned();
    await admin.patch(tenantControlPlane, own, { type: 'merge', body });
    await settle();
    const after = await owned();
    const happened = [...new Set([...before.keys(), ...after.keys()])].flatMap((id) => {
      const [old, now] = [before.get(id), after.get(id)];
      if (old === undefined) return [`create ${id}`];
      if (now === undefined) return [`delete ${id}`];
      return lineOf('change', id, fieldChanges(old, now));
    });
    const ofManagement = plan.objects.filter(({ where }) => where === 'management cluster');
    const planned = ofManagement.flatMap(({ action, kind, name, fields }) => lineOf(action, `${kind}/${name}`, fields));
    expect(planned.sort()).toEqual(happened.sort());
    expect(happened).not.toEqual([]);
    const template = (state: ReadonlyMap<string, Resource>): unknown =>
      (state.get('Deployment/tenant') as { readonly spec?: { readonly template?: unknown } } | undefined)?.spec
        ?.template;
    const isReplaced = JSON.stringify(template(before)) !== JSON.stringify(template(after));
    expect(plan.pods.action === 'restart').toBe(isReplaced);
  });
});
