import { stewardControlPlaneController } from '../../controllers/stewardcontrolplane/controller.ts';
import { ObjectMemory } from '../../runtime/cache/object-memory.ts';
import type { KubernetesClient, ObjectAddress, PlainObject } from '../../e2e/cluster/kubernetes-client.ts';
import { systemClock } from '../../runtime/clock.ts';
import { EventRecorder } from '../../runtime/observe/event-recorder.ts';
import { InformerFactory } from '../../runtime/cache/informer-factory.ts';
import { silent } from '../../runtime/observe/logger.ts';
import { Manager } from '../../runtime/reconcile/manager.ts';
import { noInfrastructureWatches } from '../fake/no-infrastructure-watches.ts';
import { noBlockerWatches } from '../fake/no-blocker-watches.ts';
import { servingSecrets, servingStatus } from '../builders/external-objects.ts';
import { adminOf } from './external-management.ts';
import type { ClusterApiCore } from '../servers/cluster-api-core.ts';

const tenantVersion = 'steward.butlerlabs.dev/v1alpha1';

/** Starts the controller of StewardControlPlanes beside core Cluster API, with the rights of an administrator. */
export async function startControllersBesideCore({ access }: ClusterApiCore): Promise<AsyncDisposable> {
  const cluster = adminOf(access);
  const parts = { cluster, clock: systemClock, log: silent };
  const informers = new InformerFactory(parts);
  const memory = new ObjectMemory();
  const manager = new Manager({
    memory,
    ...parts,
    informers,
    controllers: [
      stewardControlPlaneController({
        cluster,
        watchFilter: '',
        infrastructure: noInfrastructureWatches,
        blockers: noBlockerWatches,
        backups: true,
      }),
    ],
    events: new EventRecorder({ memory, ...parts, controller: 'test', instance: 'test' }),
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

/** The TenantControlPlane of a StewardControlPlane. */
export function tenantAddress(name: string): ObjectAddress {
  return { apiVersion: tenantVersion, kind: 'TenantControlPlane', namespace: 'default', name };
}

/**
 * Writes the status of a TenantControlPlane in place of its controller, as if all pods had the version in its spec; creates
 * its Secrets, too.
 */
export async function serveAsAsked(client: KubernetesClient, name: string): Promise<PlainObject | undefined> {
  const address = tenantAddress(name);
  const version = (object: PlainObject | undefined): string =>
    (object?.spec?.kubernetes as { readonly version?: string } | undefined)?.version ?? '';
  const tenant = await client.waitFor(address, (object) => object !== undefined);
  const secrets = servingSecrets(name) as readonly PlainObject[];
  const { apiVersion, kind } = address;
  const ownerReferences = [{ apiVersion, kind, name, uid: tenant?.metadata?.uid ?? '' }];
  const metadata = { namespace: 'default', ownerReferences };
  await client.apply(secrets.map((secret) => ({ ...secret, metadata: { ...secret.metadata, ...metadata } })));
  const status = servingStatus(name) as {
    readonly conditions: readonly object[];
    readonly kubernetesResources: object;
  };
  const [configured] = status.conditions;
  const conditions = [configured, { ...configured, type: 'AddonsReady' }];
  const kubernetesResources = {
    ...status.kubernetesResources,
    version: { version: version(tenant), status: 'Ready' },
  };
  await client.merge(address, { status: { ...status, conditions, kubernetesResources } }, 'status');
  return tenant;
}
