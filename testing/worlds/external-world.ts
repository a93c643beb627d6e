import { randomUUID } from 'node:crypto';
import { ObjectMemory } from '../../runtime/cache/object-memory.ts';
import { capiCluster } from '../../api/cluster-api/kinds.ts';
import type { StewardControlPlane } from '../../api/controlplane/steward-control-plane.ts';
import { stewardControlPlane } from '../../api/controlplane/steward-control-plane.ts';
import { kinds } from '../../api/core/kinds.ts';
import type { Condition } from '../../api/meta.ts';
import type { TenantControlPlane } from '../../api/steward/v1alpha1/tenant-control-plane.ts';
import { tenantControlPlane } from '../../api/steward/v1alpha1/tenant-control-plane.ts';
import { access } from '../../controllers/stewardcontrolplane/access.ts';
import { stewardControlPlaneController } from '../../controllers/stewardcontrolplane/controller.ts';
import { ExternalClusters } from '../../controllers/stewardcontrolplane/hosting/external-clusters.ts';
import { hostingAccess } from '../../controllers/stewardcontrolplane/hosting/hosting-access.ts';
import type { Connection } from '../../runtime/client/connection.ts';
import type { Context, LastReconcile, ReconcileResult } from '../../runtime/reconcile/controller.ts';
import { wrapCluster } from '../../runtime/client/wrap-cluster.ts';
import { silent } from '../../runtime/observe/logger.ts';
import { noInfrastructureWatches } from '../fake/no-infrastructure-watches.ts';
import { noBlockerWatches } from '../fake/no-blocker-watches.ts';
import {
  externalCluster,
  externalControlPlane,
  externalKey,
  hostingNamespace,
  kubeconfigFor,
  kubeconfigSecret,
  servingSecrets,
  servingStatus,
} from '../builders/external-objects.ts';
import { FakeClock } from '../fake/fake-clock.ts';
import { FakeCluster } from '../fake/fake-cluster.ts';

type Last = LastReconcile<StewardControlPlane>;

/** A cluster that hosts control planes, in memory; its user has the rights that are documented and no others. */
export async function hostingCluster(): Promise<FakeCluster> {
  const there = new FakeCluster({ access: hostingAccess });
  await there.seed(kinds.Namespace, { apiVersion: 'v1', kind: 'Namespace', metadata: { name: hostingNamespace } });
  return there;
}

/** A management cluster in memory, whose control plane `there` hosts. */
export class ExternalWorld {
  readonly here = new FakeCluster({ access, collectsGarbage: false });
  readonly clock = new FakeClock();
  #nextKey = Promise.withResolvers<string>();
  /** Connections that were opened. */
  readonly opened: Connection[] = [];
  /** Those that were closed. */
  readonly closed: Connection[] = [];
  readonly events: string[] = [];
  readonly clusters: ExternalClusters;
  readonly controller: ReturnType<typeof stewardControlPlaneController>;
  /** Where each server leads. */
  readonly servers: Map<string, FakeCluster>;

  constructor(
    there: FakeCluster,
    { crossNamespace = false, enabled = true }: { readonly crossNamespace?: boolean; readonly enabled?: boolean } = {},
  ) {
    this.servers = new Map([['https://there:6443', there]]);
    this.clusters = new ExternalClusters({
      memory: new ObjectMemory(),
      cluster: this.here,
      clock: this.clock,
      log: silent,
      random: () => 0,
      open: (connection) => {
        this.opened.push(connection);
        const cluster = this.servers.get(connection.server);
        if (cluster === undefined) throw new Error(`no server at ${connection.server}`);
        // Closing a client does not end its server.
        return {
          ...wrapCluster(cluster, ({ send }) => send()),
          close: () => {
            this.closed.push(connection);
            return Promise.resolve();
          },
        };
      },
      enqueue: ({ name }) => {
        this.#nextKey.resolve(name);
      },
    });
    const newProof = (): string => randomUUID();
    const external = { clusters: this.clusters, crossNamespace, newProof };
    const deps = {
      cluster: this.here,
      watchFilter: '',
      infrastructure: noInfrastructureWatches,
      blockers: noBlockerWatches,
    };
    this.controller = stewardControlPlaneController(enabled ? { ...deps, external } : deps);
  }

  /** The name of the next StewardControlPlane that a watch enqueues. */
  nextEnqueue(): Promise<string> {
    this.#nextKey = Promise.withResolvers<string>();
    return this.#nextKey.promise;
  }

  /** Cluster, StewardControlPlane and kubeconfig. */
  async seed({ metadata = {}, reference = {}, server = 'https://there:6443', token = 'first' } = {}): Promise<void> {
    await this.here.seed(capiCluster, externalCluster());
    await this.here.seed(stewardControlPlane, externalControlPlane(metadata, reference));
    await this.setKubeconfig(kubeconfigFor(server, { credentials: { token } }));
  }

  async setKubeconfig(kubeconfig: string): Promise<void> {
    await this.here.seed(kinds.Secret, kubeconfigSecret(kubeconfig));
  }

  async scp(): Promise<StewardControlPlane> {
    const scp = await this.here.admin.get(stewardControlPlane, externalKey);
    if (scp === undefined) throw new Error('there is no StewardControlPlane');
    return scp;
  }

  /** One reconcile, whose status is written like by the runtime. */
  async reconcile(): Promise<ReconcileResult<StewardControlPlane>> {
    return this.#written(await this.controller.reconcile(await this.scp(), this.#context()));
  }

  /** One reconcile of the object as if it were being deleted. */
  async lastReconcile(): Promise<Last> {
    const scp = await this.scp();
    const metadata = { ...scp.metadata, deletionTimestamp: '2030-01-01T00:00:00Z' };
    const result = await this.controller.finalize?.({ ...scp, metadata }, this.#context());
    if (result === undefined) throw new Error('the controller lets go at once');
    return this.#written(result);
  }

  /** Of the last reconcile. */
  async condition(type: string): Promise<Condition | undefined> {
    return (await this.scp()).status?.conditions?.find((each) => each.type === type);
  }

  async annotate(annotations: Readonly<Record<string, string | null>>): Promise<void> {
    const body = { metadata: { annotations } };
    await this.here.admin.patch(stewardControlPlane, externalKey, { type: 'merge', body });
  }

  async #written<V extends ReconcileResult<StewardControlPlane>>(result: V): Promise<V> {
    if (result.status !== undefined) {
      const body = { status: result.status };
      const how = { subresource: 'status' } as const;
      await this.here.admin.patch(stewardControlPlane, externalKey, { type: 'merge', body }, how);
    }
    return result;
  }

  #context(): Context {
    return {
      signal: new AbortController().signal,
      now: this.clock.now(),
      log: silent,
      event: (_, reason) => void this.events.push(reason),
    };
  }
}

/** The TenantControlPlanes that a cluster hosts. */
export async function tenantsOf(there: FakeCluster): Promise<readonly TenantControlPlane[]> {
  return (await there.admin.list(tenantControlPlane, { namespace: hostingNamespace })).items;
}

/** The only TenantControlPlane that a cluster hosts. */
export async function tenantOf(there: FakeCluster): Promise<TenantControlPlane> {
  const [tenant, ...others] = await tenantsOf(there);
  if (tenant === undefined || others.length > 0)
    throw new Error(`expected one TenantControlPlane, not ${others.length}`);
  return tenant;
}

/** The TenantControlPlane serves: its status and Secrets are those of one that does. */
export async function serve(there: FakeCluster): Promise<void> {
  const name = (await tenantOf(there)).metadata.name;
  const body = { status: servingStatus(name) };
  const key = { namespace: hostingNamespace, name };
  await there.admin.patch(tenantControlPlane, key, { type: 'merge', body }, { subresource: 'status' });
  for (const secret of servingSecrets(name)) await there.seed(kinds.Secret, secret);
}
