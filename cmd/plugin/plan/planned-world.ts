import { kinds } from '../../../api/core/kinds.ts';
import type { Key } from '../../../api/meta.ts';
import { annotations, tenantObjects } from '../../../api/names.ts';
import { dataStore } from '../../../api/steward/v1alpha1/data-store.ts';
import { tenantControlPlane } from '../../../api/steward/v1alpha1/tenant-control-plane.ts';
import type { TenantControlPlane } from '../../../api/steward/v1alpha1/tenant-control-plane.ts';
import { clusterOfTenant } from '../../../controllers/stewardcontrolplane/infrastructure/cluster-of-tenant.ts';
import { hashLabel } from '../../../controllers/tenantcontrolplane/workload/rollout/rollout-facts.ts';
import { tenantControlPlaneController } from '../../../controllers/tenantcontrolplane/controller.ts';
import { ObjectMemory } from '../../../runtime/cache/object-memory.ts';
import { silent } from '../../../runtime/observe/logger.ts';
import { Reconciler } from '../../../runtime/reconcile/reconciler.ts';
import { secretReader } from '../../../stores/secret-reader.ts';
import { Sessions } from '../../../stores/sessions.ts';
import { StoreAccess } from '../../../stores/store-access.ts';
import { TenantPool } from '../../../tenants/pool.ts';
import type { ObjectReader } from '../explain/object-reader.ts';
import { assumedDriver } from './assumed-driver.ts';
import { PlanClock } from './plan-clock.ts';
import { plannedInformers } from './planned-informers.ts';
import { PlannedCluster } from './planned-cluster.ts';
import type { PlanSettings } from './plan-settings.ts';

/** What is known of the inside of the tenant; without it, the checks before an upgrade find nothing. */
export interface TenantFacts {
  /** The NodeList of the tenant, as JSON. */
  readonly nodes?: string;
  /** The metrics of its API server. */
  readonly metrics?: string;
}

/** What a planned world begins with. */
export interface PlannedWorldOptions {
  readonly reader: Pick<ObjectReader, 'read' | 'list'>;
  readonly settings: PlanSettings;
  readonly now: Date;
  readonly tenant?: TenantFacts | undefined;
}

/** What the Deployment's controller and the one of EndpointSlices make. Plans begin and end at rest. */
const derived: ReadonlySet<string> = new Set([kinds.Pod.kind, kinds.ReplicaSet.kind]);

/** What waits for time waits so long at most, in milliseconds. */
const stepMs = 60_000;

/** A plan that is not at rest after so many steps shows what there is. */
const mostSteps = 8;

/** More reconciles than these come to rest only with time. */
const mostReconciles = 20;

/** The controller of TenantControlPlanes with a copy of everything that it reads and writes. */
export class PlannedWorld {
  readonly management: PlannedCluster;
  readonly tenant: PlannedCluster;
  readonly #clock: PlanClock;
  readonly #reconciler: Reconciler;

  constructor({ reader, settings, now, tenant = {} }: PlannedWorldOptions) {
    const clock = new PlanClock(now);
    const time = (): Date => clock.now();
    this.#clock = clock;
    this.management = new PlannedCluster({ reader, derived, now: time });
    this.tenant = new PlannedCluster({
      now: time,
      texts: {
        '/livez': 'ok',
        '/readyz': 'ok',
        '/api/v1/nodes': tenant.nodes ?? JSON.stringify({ kind: 'NodeList', apiVersion: 'v1', items: [] }),
        '/metrics': tenant.metrics ?? '',
      },
    });
    const cluster = this.management;
    const memory = new ObjectMemory();
    const { managerNamespace: namespace, drivers, ...options } = settings;
    const controller = tenantControlPlaneController({
      ...options,
      cluster,
      clock,
      memory,
      informers: plannedInformers(cluster),
      stores: new StoreAccess({
        drivers: drivers.map(assumedDriver),
        sessions: new Sessions({ clock }),
        read: secretReader((key) => cluster.get(kinds.Secret, key)),
      }),
      pool: new TenantPool({ memory, clock, open: () => this.tenant }),
      mostStarts: 1_000,
      migrations: { namespace, serviceAccount: 'steward', image: () => Promise.resolve('steward'), minimumHoldMs: 0 },
      clusterOf: (tcp, ctx) => clusterOfTenant({ cluster }, tcp, ctx),
    });
    this.#reconciler = new Reconciler({
      memory: new ObjectMemory(),
      controller,
      cluster,
      clock,
      events: { record: () => undefined },
      stop: new AbortController().signal,
      wrote: () => undefined,
    });
  }

  /** Reads what the controllers have in caches. */
  async begin(): Promise<void> {
    await this.management.list(dataStore);
    await this.management.list(tenantControlPlane);
  }

  /**
   * Ends a rollout under way as if all new pods were ready: there are no pods in a plan that it could wait for. Returns whether there was
   * one.
   */
  async endRollout(key: Key): Promise<boolean> {
    const names = tenantObjects(key.name);
    const at = (name: string): Key => ({ ...key, name });
    const [deployment, service] = await Promise.all([
      this.management.get(kinds.Deployment, at(names.deployment)),
      this.management.get(kinds.Service, at(names.service)),
    ]);
    const isHeld = deployment?.metadata.annotations?.[annotations.rollout] !== undefined;
    const isNarrowed = service?.spec?.selector?.[hashLabel] !== undefined;
    if (isHeld) {
      const body = { metadata: { annotations: { [annotations.rollout]: null } }, spec: { minReadySeconds: null } };
      await this.management.patch(kinds.Deployment, at(names.deployment), { type: 'merge', body });
    }
    if (isNarrowed) {
      const body = { spec: { selector: { [hashLabel]: null } } };
      await this.management.patch(kinds.Service, at(names.service), { type: 'merge', body });
    }
    return isHeld || isNarrowed;
  }

  read(key: Key): Promise<TenantControlPlane | undefined> {
    return this.management.get(tenantControlPlane, key);
  }

  /** Reconciles until nothing changes anymore, also not with time. */
  async settle(key: Key): Promise<void> {
    await this.#toRest(key);
    // The controller only reports what it cannot read, and goes on without it.
    const { failure } = this.management;
    if (failure !== undefined)
      throw new Error(`a plan needs to read what the manager reads: ${failure.message}`, { cause: failure });
  }

  async #toRest(key: Key): Promise<void> {
    for (let step = 0; step < mostSteps; step += 1) {
      const before = this.#writes();
      await this.#reconcileToRest(key);
      if (step > 0 && this.#writes() === before) return;
      this.#clock.advance(stepMs);
    }
  }

  async #reconcileToRest(key: Key): Promise<void> {
    for (let reconciles = 0; reconciles < mostReconciles; reconciles += 1) {
      const before = this.#writes();
      const tcp = await this.read(key);
      if (tcp !== undefined) await this.#reconciler.reconcile(tcp, silent);
      if (this.#writes() === before) return;
    }
  }

  #writes(): number {
    return this.management.writes + this.tenant.writes;
  }
}
