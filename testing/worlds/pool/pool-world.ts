import { kinds } from '../../../api/core/kinds.ts';
import type { Secret } from '../../../api/core/kinds.ts';
import type { KindRef, Manifest, NamespacedResource } from '../../../api/meta.ts';
import { apiVersionOf } from '../../../api/meta.ts';
import { tenantObjects } from '../../../api/names.ts';
import { controlPlaneClaim } from '../../../api/steward/v1alpha1/pool/control-plane-claim.ts';
import type {
  ControlPlaneClaim,
  ControlPlaneClaimSpecInput,
} from '../../../api/steward/v1alpha1/pool/control-plane-claim.ts';
import { controlPlanePool } from '../../../api/steward/v1alpha1/pool/control-plane-pool.ts';
import type {
  ControlPlanePool,
  ControlPlanePoolSpecInput,
} from '../../../api/steward/v1alpha1/pool/control-plane-pool.ts';
import { isUnclaimed } from '../../../api/steward/v1alpha1/pool/prepared.ts';
import { tenantControlPlane } from '../../../api/steward/v1alpha1/tenant-control-plane.ts';
import type { TenantControlPlane } from '../../../api/steward/v1alpha1/tenant-control-plane.ts';
import { access as claimAccess } from '../../../controllers/controlplaneclaim/access.ts';
import { controlPlaneClaimController } from '../../../controllers/controlplaneclaim/controller.ts';
import { access as poolAccess } from '../../../controllers/controlplanepool/access.ts';
import { controlPlanePoolController } from '../../../controllers/controlplanepool/controller.ts';
import { kubeconfig } from '../../../kubeadm/kubeconfig.ts';
import { issueCa } from '../../../kubeadm/pki/issue.ts';
import { caValidityMs, lifetimeFrom } from '../../../kubeadm/pki/lifetime.ts';
import { authorityProfiles } from '../../../kubeadm/pki/profiles.ts';
import { silent } from '../../../runtime/observe/logger.ts';
import type { ReconcileOutcome, Reconciler } from '../../../runtime/reconcile/reconciler.ts';
import { FakeClock } from '../../fake/fake-clock.ts';
import { FakeCluster } from '../../fake/fake-cluster.ts';
import { worldReconciler } from '../world-reconciler.ts';

const namespace = 'team';

/** The smallest template. */
export const plainTemplate = {
  spec: { controlPlane: { service: { serviceType: 'ClusterIP' } }, kubernetes: { version: 'v1.36.3' } },
} as const;

/** What a manager knows from its caches. */
interface Lists {
  readonly tenants: readonly TenantControlPlane[];
  readonly pools: readonly ControlPlanePool[];
  readonly claims: readonly ControlPlaneClaim[];
}

/** Pools and claims with their controllers. Control planes become what the test says they are. */
export class PoolWorld {
  readonly clock = new FakeClock();
  readonly cluster: FakeCluster;
  readonly events: string[] = [];
  /** Names of the claims that were bound, once for each time that a controller said so. */
  readonly bindings: string[] = [];
  #names = 0;
  #lists: Lists = { tenants: [], pools: [], claims: [] };
  #reconcilers: ReadonlyMap<KindRef, Reconciler>;

  constructor() {
    const access = [...poolAccess, ...claimAccess];
    this.cluster = new FakeCluster({ access, now: () => this.clock.now().getTime() });
    this.#reconcilers = this.newManager();
  }

  /** A manager that starts now, beside those that exist. All read the same caches. */
  newManager(): ReadonlyMap<KindRef, Reconciler> {
    const { cluster, clock, events, bindings } = this;
    const lists = {
      tenants: () => this.#lists.tenants,
      pools: () => this.#lists.pools,
      claims: () => this.#lists.claims,
    };
    const bound = ({ metadata }: ControlPlaneClaim): void => {
      bindings.push(metadata.name);
    };
    const newSuffix = (): string => String((this.#names += 1)).padStart(4, '0');
    const of = (controller: Parameters<typeof worldReconciler>[0]): Reconciler =>
      worldReconciler(controller, { cluster, clock, events });
    return new Map<KindRef, Reconciler>([
      [controlPlanePool, of(controlPlanePoolController({ cluster, newSuffix, ...lists }))],
      [controlPlaneClaim, of(controlPlaneClaimController({ cluster, renewBeforeMs: 0, bound, ...lists }))],
    ]);
  }

  /** The manager has ended, and another one starts that remembers nothing. */
  restart(): void {
    this.cluster.restart();
    this.#reconcilers = this.newManager();
  }

  /** The caches are as the API server now. */
  async refresh(): Promise<void> {
    const { admin } = this.cluster;
    const [tenants, pools, claims] = await Promise.all([
      admin.list(tenantControlPlane),
      admin.list(controlPlanePool),
      admin.list(controlPlaneClaim),
    ]);
    this.#lists = { tenants: tenants.items, pools: pools.items, claims: claims.items };
  }

  /** One reconcile of an object with caches that are not refreshed. */
  async outcomeOf(
    object: ControlPlanePool | ControlPlaneClaim,
    manager: ReadonlyMap<KindRef, Reconciler> = this.#reconcilers,
  ): Promise<ReconcileOutcome> {
    const kind = object.kind === controlPlanePool.kind ? controlPlanePool : controlPlaneClaim;
    const { namespace: place, name } = object.metadata;
    const found = await this.cluster.admin.get(kind as KindRef<ControlPlanePool>, { namespace: place, name });
    const reconciler = manager.get(kind);
    if (reconciler === undefined) throw new Error(`no controller of ${kind.kind} runs here`);
    if (found === undefined) return {};
    const outcome = await reconciler.reconcile(found, silent);
    if (outcome.error instanceof TypeError || outcome.error instanceof ReferenceError) throw outcome.error;
    return outcome;
  }

  /** Reconciles all pools and claims several times, with fresh caches. */
  async settle(times = 3): Promise<void> {
    for (let turn = 0; turn < times; turn += 1) {
      for (const list of ['pools', 'claims'] as const) {
        await this.refresh();
        for (const object of this.#lists[list]) {
          await this.outcomeOf(object);
          await this.refresh();
        }
      }
    }
  }

  pool(spec: Partial<ControlPlanePoolSpecInput> = {}, name = 'small', place = namespace): Promise<ControlPlanePool> {
    return this.#create(controlPlanePool, { name, namespace: place }, { template: plainTemplate, ...spec });
  }

  claim(name: string, spec: Partial<ControlPlaneClaimSpecInput> = {}, place = namespace): Promise<ControlPlaneClaim> {
    return this.#create(controlPlaneClaim, { name, namespace: place }, { pool: 'small', ...spec });
  }

  #create<T extends NamespacedResource>(kind: KindRef<T>, metadata: Manifest['metadata'], spec: object): Promise<T> {
    return this.cluster.admin.create(kind, { apiVersion: apiVersionOf(kind), kind: kind.kind, metadata, spec });
  }

  /** All control planes, by name. */
  async tenants(): Promise<readonly TenantControlPlane[]> {
    return (await this.cluster.admin.list(tenantControlPlane)).items;
  }

  /** Names of the control planes that nobody has claimed. */
  async unclaimed(name = 'small'): Promise<readonly string[]> {
    const pool = await this.readPool(name);
    return (await this.tenants()).filter((tcp) => isUnclaimed(tcp, pool)).map(({ metadata }) => metadata.name);
  }

  async readPool(name = 'small'): Promise<ControlPlanePool> {
    return required(await this.cluster.admin.get(controlPlanePool, { namespace, name }), name);
  }

  async readClaim(name: string, place = namespace): Promise<ControlPlaneClaim> {
    return required(await this.cluster.admin.get(controlPlaneClaim, { namespace: place, name }), name);
  }

  async readTenant(name: string, place = namespace): Promise<TenantControlPlane> {
    return required(await this.cluster.admin.get(tenantControlPlane, { namespace: place, name }), name);
  }

  secret(name: string): Promise<Secret | undefined> {
    return this.cluster.admin.get(kinds.Secret, { namespace, name });
  }

  /** What the controller of a control plane does: CA, kubeconfig of the administrator, and a status. */
  async becomesReady(name: string, place = namespace): Promise<void> {
    const ca = { namespace: place, name: tenantObjects(name).ca };
    if ((await this.cluster.admin.get(kinds.Secret, ca)) === undefined) await this.hasKeys(name, place);
    await this.tellReady(name, 'True', place);
  }

  /** A CA of its own, and a kubeconfig of its administrator. */
  async hasKeys(name: string, place = namespace): Promise<void> {
    const names = tenantObjects(name);
    const lifetime = lifetimeFrom(this.clock.now(), caValidityMs);
    const ca = await issueCa(authorityProfiles.ca, { algorithm: 'ECDSA-P256', lifetime });
    const server = `https://${name}.example:6443`;
    const admin = kubeconfig({ clusterName: name, server, ca: ca.certificate, user: 'kubernetes-admin', client: ca });
    await this.putSecret(names.ca, { 'ca.crt': ca.certificate, 'ca.key': ca.key }, place);
    await this.putSecret(names.adminKubeconfig, { 'admin.conf': admin }, place);
  }

  async putSecret(name: string, data: Readonly<Record<string, string>>, place = namespace): Promise<void> {
    const encoded = Object.entries(data).map(([key, text]) => [key, Buffer.from(text).toString('base64')] as const);
    const metadata = { name, namespace: place };
    await this.cluster.seed(kinds.Secret, {
      ...{ apiVersion: 'v1', kind: 'Secret', metadata, data: Object.fromEntries(encoded) },
    });
  }

  async tellReady(name: string, status: 'True' | 'False', place = namespace): Promise<void> {
    const { generation } = (await this.readTenant(name, place)).metadata;
    const reason = status === 'True' ? 'Ready' : 'NotReady';
    const lastTransitionTime = this.clock.now().toISOString();
    const condition = { type: 'Ready', status, reason, message: '', lastTransitionTime };
    const body = { status: { observedGeneration: generation, conditions: [condition] } };
    const key = { namespace: place, name };
    await this.cluster.admin.patch(tenantControlPlane, key, { type: 'merge', body }, { subresource: 'status' });
  }

  /** Everything in reserve becomes Ready, as often as the pool makes more of it. */
  async fill(): Promise<void> {
    for (let turn = 0; turn < 3; turn += 1) {
      await this.settle(1);
      for (const { metadata } of await this.tenants()) await this.becomesReady(metadata.name, metadata.namespace);
    }
    await this.settle();
  }

  /** A condition as `Status Reason`. */
  async bound(claim: string): Promise<string | undefined> {
    const { status } = await this.readClaim(claim);
    const found = status?.conditions?.find(({ type }) => type === 'Bound');
    return found && `${found.status} ${found.reason}`;
  }

  /** The condition Ready of the pool as `Status Reason`. */
  async poolReady(name = 'small'): Promise<string | undefined> {
    const { status } = await this.readPool(name);
    const found = status?.conditions?.find(({ type }) => type === 'Ready');
    return found && `${found.status} ${found.reason}`;
  }
}

function required<T>(found: T | undefined, name: string): T {
  if (found === undefined) throw new Error(`${name} does not exist`);
  return found;
}
