import { capiCluster } from '../../api/cluster-api/kinds.ts';
import type { StewardControlPlane } from '../../api/controlplane/steward-control-plane.ts';
import { stewardControlPlane } from '../../api/controlplane/steward-control-plane.ts';
import type { PolicyRule } from '../../api/meta.ts';
import { annotations } from '../../api/names.ts';
import { tenantControlPlane } from '../../api/steward/v1alpha1/tenant-control-plane.ts';
import { retainedControlPlane } from '../../api/steward/v1alpha1/retained-control-plane.ts';
import type { RetainedControlPlane } from '../../api/steward/v1alpha1/retained-control-plane.ts';
import { access as accessToRecords } from '../../controllers/retainedcontrolplane/access.ts';
import { retainedControlPlaneController } from '../../controllers/retainedcontrolplane/controller.ts';
import { access as accessOfRetainer } from '../../controllers/stewardcontrolplane/access.ts';
import { stewardControlPlaneController } from '../../controllers/stewardcontrolplane/controller.ts';
import { removeData } from '../../controllers/tenantcontrolplane/deletion.ts';
import { silent } from '../../runtime/observe/logger.ts';
import type { Controller } from '../../runtime/reconcile/controller.ts';
import type { Reconciler } from '../../runtime/reconcile/reconciler.ts';
import { noInfrastructureWatches } from '../fake/no-infrastructure-watches.ts';
import { noBlockerWatches } from '../fake/no-blocker-watches.ts';
import { TenantWorld } from './tenant-world.ts';
import { worldReconciler } from './world-reconciler.ts';

/** The name of the Cluster, of its StewardControlPlane and of the TenantControlPlane behind that. */
export const key = { namespace: 'default', name: 'tenant' };

/** The permissions of the controllers other than that of the TenantControlPlane. */
export const access: readonly PolicyRule[] = [...accessOfRetainer, ...accessToRecords];

/** The name of its RetainedControlPlane. */
export const recordKey = { name: 'default.tenant' };

/** The first plain world of each spec, in which nothing happens. */
const models = new Map<string, Promise<ReleaseWorld>>();

/** How a `ReleaseWorld` begins. */
export interface ReleaseWorldOptions<W extends TenantWorld> {
  /** The world of the TenantControlPlane, which must allow `access` of this file; by default a plain one. */
  readonly tenant: W;
  /** Of the StewardControlPlane. */
  readonly spec?: object;
}

/** A `TenantWorld` whose TenantControlPlane is created by a StewardControlPlane; all controllers are one process. */
export class ReleaseWorld<W extends TenantWorld = TenantWorld> {
  readonly tenant: W;
  /** The Events about the StewardControlPlane and the RetainedControlPlane. */
  readonly events: string[] = [];
  #retainer: Reconciler;
  #records: Reconciler;

  private constructor(tenant: W) {
    this.tenant = tenant;
    this.#retainer = this.#newRetainer();
    this.#records = this.#newRecords();
  }

  /**
   * A plain one: the two controllers have made the control plane, which serves. Where one with the same spec was made before it is a copy,
   * with a process that has just started and has come to rest.
   */
  static async create(spec: object = {}): Promise<ReleaseWorld> {
    const plain = (): TenantWorld => new TenantWorld({ beside: access });
    const same = JSON.stringify(spec);
    const making = models.get(same) ?? ReleaseWorld.in({ tenant: plain(), spec });
    models.set(same, making);
    const model = await making;
    const world = new ReleaseWorld(plain());
    await world.tenant.copyFrom(model.tenant);
    await world.settle();
    return world;
  }

  /** The same around the world of a TenantControlPlane. */
  static async in<T extends TenantWorld>(options: ReleaseWorldOptions<T>): Promise<ReleaseWorld<T>> {
    const world = new ReleaseWorld(options.tenant);
    const { cluster } = world.tenant;
    await world.tenant.create();
    // Only the DataStore is wanted of what that stored.
    await cluster.admin.delete(tenantControlPlane, key);
    const { metadata } = await cluster.seed(capiCluster, {
      apiVersion: 'cluster.x-k8s.io/v1beta2',
      kind: 'Cluster',
      metadata: key,
      spec: {
        controlPlaneRef: { apiGroup: stewardControlPlane.group, kind: stewardControlPlane.kind, name: key.name },
        clusterNetwork: { services: { cidrBlocks: ['10.112.0.0/16'] }, pods: { cidrBlocks: ['10.128.0.0/16'] } },
      },
    });
    await cluster.seed(stewardControlPlane, {
      apiVersion: 'controlplane.cluster.x-k8s.io/v1alpha2',
      kind: stewardControlPlane.kind,
      metadata: {
        ...key,
        ownerReferences: [
          { apiVersion: 'cluster.x-k8s.io/v1beta2', kind: 'Cluster', name: key.name, uid: metadata.uid },
        ],
      },
      spec: {
        version: '1.36.3',
        replicas: 2,
        registry: 'registry.k8s.io',
        dataStoreName: 'default',
        kubelet: { preferredAddressTypes: ['InternalIP'], cgroupfs: 'cgroupfs' },
        network: { serviceType: 'NodePort', serviceAddress: '192.0.2.1' },
        addons: {},
        ...options.spec,
      },
    });
    await world.settle();
    return world;
  }

  /** A new process: nothing is remembered. */
  restart(): void {
    this.tenant.restart();
    this.#retainer = this.#newRetainer();
    this.#records = this.#newRecords();
  }

  /** A reconcile by each controller. */
  async round(): Promise<void> {
    await this.reconcileRetainer();
    await this.tenant.reconcile();
    await this.reconcileRecord();
  }

  /** A reconcile of the StewardControlPlane, as it is or as a cache still has it. */
  async reconcileRetainer(seen?: StewardControlPlane): Promise<void> {
    const scp = seen ?? (await this.retainer());
    if (scp !== undefined) await this.#retainer.reconcile(scp, silent);
  }

  /** A reconcile of the RetainedControlPlane, if it exists. */
  async reconcileRecord(): Promise<void> {
    const record = await this.record();
    if (record !== undefined) await this.#records.reconcile(record, silent);
  }

  /** Rounds until one writes nothing anymore. */
  async settle(): Promise<void> {
    for (let rounds = 0; rounds < 60; rounds += 1) {
      const before = await this.writes();
      await this.round();
      if ((await this.writes()) === before) return;
    }
    throw new Error('the controllers do not come to rest');
  }

  /** Rounds until the process dies; false if nothing was left to do before. */
  async untilDeath(): Promise<boolean> {
    for (let rounds = 0; rounds < 60; rounds += 1) {
      const before = await this.writes();
      await this.round();
      if (this.tenant.cluster.crashed) return true;
      if ((await this.writes()) === before) return false;
    }
    throw new Error('the controllers do not come to rest');
  }

  async writes(): Promise<string> {
    const { resourceVersion = 'gone' } = (await this.retainer())?.metadata ?? {};
    const record = (await this.record())?.metadata.resourceVersion ?? '';
    return `${await this.tenant.writes()}${record}\n${resourceVersion}`;
  }

  retainer(): Promise<StewardControlPlane | undefined> {
    return this.tenant.cluster.admin.get(stewardControlPlane, key);
  }

  record(): Promise<RetainedControlPlane | undefined> {
    return this.tenant.cluster.admin.get(retainedControlPlane, recordKey);
  }

  /** Changes the StewardControlPlane as a person does. */
  async change(body: unknown): Promise<void> {
    await this.tenant.cluster.admin.patch(stewardControlPlane, key, { type: 'merge', body });
  }

  /** Deletes only the TenantControlPlane, with the confirming annotation. */
  async deleteAlone(propagation: 'Background' | 'Foreground' = 'Background'): Promise<void> {
    await this.tenant.change({ metadata: { annotations: { [annotations.deleteAnyway]: 'true' } } });
    await this.tenant.cluster.admin.delete(tenantControlPlane, key, { propagation });
  }

  #newRetainer(): Reconciler {
    const { cluster } = this.tenant;
    return this.#reconciler(
      stewardControlPlaneController({
        cluster,
        watchFilter: '',
        infrastructure: noInfrastructureWatches,
        blockers: noBlockerWatches,
      }),
    );
  }

  #newRecords(): Reconciler {
    const { cluster } = this.tenant;
    const stores = this.tenant.openStores();
    return this.#reconciler(
      retainedControlPlaneController({
        cluster,
        namespace: '',
        removeData: (former, ctx) =>
          removeData(former, { cluster, stores, defaultDataStore: '', allTenants: () => [] }, ctx),
      }),
    );
  }

  #reconciler(controller: Controller): Reconciler {
    const { cluster, clock } = this.tenant;
    return worldReconciler(controller, { cluster, clock, events: this.events });
  }
}
