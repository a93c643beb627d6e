import { capiCluster, capiMachine } from '../../api/cluster-api/kinds.ts';
import { ObjectMemory } from '../../runtime/cache/object-memory.ts';
import { stewardControlPlane } from '../../api/controlplane/steward-control-plane.ts';
import { kinds } from '../../api/core/kinds.ts';
import type { Key, KindRef, Resource } from '../../api/meta.ts';
import { retainedControlPlane } from '../../api/steward/v1alpha1/retained-control-plane.ts';
import { tenantControlPlane } from '../../api/steward/v1alpha1/tenant-control-plane.ts';
import { stewardControlPlaneController } from '../../controllers/stewardcontrolplane/controller.ts';
import { ExternalClusters } from '../../controllers/stewardcontrolplane/hosting/external-clusters.ts';
import { systemClock } from '../../runtime/clock.ts';
import type { Cluster } from '../../runtime/client/cluster.ts';
import { EventRecorder } from '../../runtime/observe/event-recorder.ts';
import { openCluster } from '../../runtime/client/http-cluster.ts';
import { InformerFactory } from '../../runtime/cache/informer-factory.ts';
import { silent } from '../../runtime/observe/logger.ts';
import { Manager } from '../../runtime/reconcile/manager.ts';
import { externalKey } from '../builders/external-objects.ts';
import { installKinds } from '../servers/install-kinds.ts';
import { openDefinition } from '../builders/open-definition.ts';
import type { ApiServerAccess } from '../servers/api-server.ts';
import { noInfrastructureWatches } from '../fake/no-infrastructure-watches.ts';
import { noBlockerWatches } from '../fake/no-blocker-watches.ts';

/** A real management cluster with the controller of StewardControlPlanes at work. */
export interface ExternalManagement extends AsyncDisposable {
  readonly admin: Cluster;
  /** Stops the controller; the API server stays. */
  stop(): Promise<void>;
}

/** The administrator's client of a real API server. */
export function adminOf({ url, ca, adminCertificate, adminKey }: ApiServerAccess): Cluster {
  return openCluster({ server: url, ca, clientCert: adminCertificate, clientKey: adminKey }, { name: 'management' });
}

/** Installs what a management cluster needs and starts the controller, which works with the rights of an administrator. */
export async function startExternalManagement(server: ApiServerAccess): Promise<ExternalManagement> {
  const admin = adminOf(server);
  for (const kind of [capiCluster, capiMachine]) {
    await admin.apply(kinds.CustomResourceDefinition, openDefinition(kind), { fieldManager: 'steward-tests' });
  }
  await installKinds(admin, [retainedControlPlane, stewardControlPlane, tenantControlPlane]);
  await isListed(admin, [capiCluster, capiMachine]);
  const metadata = { name: externalKey.namespace };
  await admin.apply(kinds.Namespace, { apiVersion: 'v1', kind: 'Namespace', metadata }, { fieldManager: 'test' });
  const parts = { cluster: admin, clock: systemClock, log: silent };
  let proofs = 0;
  const memory = new ObjectMemory();
  const clusters = new ExternalClusters({
    memory,
    ...parts,
    random: Math.random,
    open: openCluster,
    enqueue: (key: Key) => {
      manager.enqueue('stewardcontrolplane', key);
    },
  });
  const newProof = (): string => `proof-${(proofs += 1)}-of-${server.url}`;
  const external = { clusters, crossNamespace: false, newProof };
  const informers = new InformerFactory(parts);
  const manager = new Manager({
    ...parts,
    informers,
    controllers: [
      stewardControlPlaneController({
        cluster: admin,
        watchFilter: '',
        infrastructure: noInfrastructureWatches,
        blockers: noBlockerWatches,
        external,
      }),
    ],
    events: new EventRecorder({ memory, ...parts, controller: 'test', instance: 'test' }),
    memory,
  });
  await manager.start();
  let stopped = false;
  const stop = async (): Promise<void> => {
    if (stopped) return;
    stopped = true;
    await manager.stop(0);
    await clusters.close();
    await informers.close();
  };
  return {
    admin,
    stop,
    [Symbol.asyncDispose]: async () => {
      await stop();
      await admin.close();
    },
  };
}

/** Waits until the kinds can be listed: the first watch is begun when the API server serves them. */
async function isListed(cluster: Cluster, wanted: readonly KindRef[]): Promise<void> {
  const informers = new InformerFactory({ cluster });
  for (const kind of wanted) informers.informer({ kind });
  await informers.synced();
  await informers.close();
}

/** The object as soon as `is` returns true for it; `is` gets undefined while it does not exist. */
export async function once<T extends Resource>(
  cluster: Cluster,
  kind: KindRef<T>,
  { key, is }: { readonly key: Key; readonly is: (object: T | undefined) => boolean },
): Promise<T | undefined> {
  const informers = new InformerFactory({ cluster });
  const { namespace } = key;
  const fieldSelector = `metadata.name=${key.name}`;
  const informer = informers.informer({ kind, fieldSelector, namespace });
  try {
    await informer.synced;
    if (is(informer.get(key))) return informer.get(key);
    return await new Promise<T | undefined>((resolve) => {
      informer.subscribe((_, now) => {
        if (is(now)) resolve(now);
      });
    });
  } finally {
    await informers.close();
  }
}
