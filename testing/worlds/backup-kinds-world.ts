import { kinds } from '../../api/core/kinds.ts';
import type { Deployment, Job } from '../../api/core/kinds.ts';
import type { Key, KindRef, NamespacedResource } from '../../api/meta.ts';
import { apiVersionOf } from '../../api/meta.ts';
import { backupProcess, labels } from '../../api/names.ts';
import { backupPolicy } from '../../api/steward/v1alpha1/backup/backup-policy.ts';
import type { BackupPolicy } from '../../api/steward/v1alpha1/backup/backup-policy.ts';
import { tenantBackup } from '../../api/steward/v1alpha1/backup/tenant-backup.ts';
import type { TenantBackup } from '../../api/steward/v1alpha1/backup/tenant-backup.ts';
import { tenantRestore } from '../../api/steward/v1alpha1/backup/tenant-restore.ts';
import type { TenantRestore } from '../../api/steward/v1alpha1/backup/tenant-restore.ts';
import { tenantControlPlane } from '../../api/steward/v1alpha1/tenant-control-plane.ts';
import type { TenantControlPlane } from '../../api/steward/v1alpha1/tenant-control-plane.ts';
import { access as policyAccess, operatorNamespaceAccess } from '../../controllers/backuppolicy/access.ts';
import { access as backupAccess } from '../../controllers/tenantbackup/access.ts';
import { access as restoreAccess } from '../../controllers/tenantrestore/access.ts';
import { backupPolicyController } from '../../controllers/backuppolicy/controller.ts';
import { tenantBackupController } from '../../controllers/tenantbackup/controller.ts';
import { tenantRestoreController } from '../../controllers/tenantrestore/controller.ts';
import { silent } from '../../runtime/observe/logger.ts';
import type { ReconcileOutcome, Reconciler } from '../../runtime/reconcile/reconciler.ts';
import { BackupProcesses } from '../../stores/backup/process/processes.ts';
import { tenantControlPlaneWith } from '../builders/tenant-control-plane.ts';
import { FakeClock } from '../fake/fake-clock.ts';
import { FakeCluster } from '../fake/fake-cluster.ts';
import { worldReconciler } from './world-reconciler.ts';

const group = { encryption: { keySecret: { name: 'backup-key' } } };
const storage = { persistentVolumeClaim: { claimName: 'backups' } };

/** Where the backups of the tenant `shop` are. */
export const shopSource = {
  tenantControlPlaneName: 'shop',
  encryption: { keySecret: { name: 'backup-key', key: 'key' } },
  storage,
} as const;

/** The condition of a tenant whose DataStore has room for it. */
export const storeReady = {
  ...{ type: 'StoreReady', status: 'True', reason: 'Succeeded', message: '' },
  lastTransitionTime: '2030-01-01T00:00:00Z',
} as const;

/** The three kinds of backups with their controllers, and their processes as the test says they are. */
export class BackupKindsWorld {
  readonly clock = new FakeClock();
  readonly cluster: FakeCluster;
  readonly events: string[] = [];
  readonly claims = new Set(['backups']);
  readonly buckets = new Set(['bucket']);
  /** False: the Secret with the key of the backups does not exist yet. */
  hasKey = true;
  #lists: Readonly<Record<string, readonly NamespacedResource[]>> = {};
  #reconcilers: ReadonlyMap<KindRef, Reconciler>;

  constructor() {
    const access = [...policyAccess, ...backupAccess, ...restoreAccess, ...operatorNamespaceAccess];
    this.cluster = new FakeCluster({ access, now: () => this.clock.now().getTime() });
    this.#reconcilers = this.#start();
  }

  /** A manager starts that remembers nothing. */
  restart(): void {
    this.cluster.restart();
    this.#reconcilers = this.#start();
  }

  #start(): ReadonlyMap<KindRef, Reconciler> {
    const { cluster, clock, events, claims, buckets } = this;
    const image = (): Promise<string> => Promise.resolve('steward:test');
    const processes = new BackupProcesses({ cluster, namespace: 'steward-system', image, claims, buckets });
    const deps = {
      cluster,
      processes,
      policies: () => (this.#lists.BackupPolicy ?? []) as readonly BackupPolicy[],
      backups: () => (this.#lists.TenantBackup ?? []) as readonly TenantBackup[],
      restores: () => (this.#lists.TenantRestore ?? []) as readonly TenantRestore[],
    };
    const of = (controller: Parameters<typeof worldReconciler>[0]): Reconciler =>
      worldReconciler(controller, { cluster, clock, events });
    return new Map<KindRef, Reconciler>([
      [backupPolicy, of(backupPolicyController(deps))],
      [tenantBackup, of(tenantBackupController(deps))],
      [tenantRestore, of(tenantRestoreController(deps))],
    ]);
  }

  /** Reconciles every object of the three kinds once; the outcome of each, with its error. */
  async reconcile(): Promise<void> {
    for (const [kind, reconciler] of this.#reconcilers) {
      const lists: Record<string, readonly NamespacedResource[]> = {};
      for (const one of this.#reconcilers.keys()) {
        lists[one.kind] = (await this.cluster.admin.list(one)).items as readonly NamespacedResource[];
      }
      this.#lists = lists;
      for (const object of lists[kind.kind] ?? []) {
        const { error } = await reconciler.reconcile(object, silent);
        if (error !== undefined && !this.cluster.crashed) throw error as Error;
      }
    }
  }

  /** What one more reconcile of an object comes to. */
  async outcomeOf(kind: KindRef<NamespacedResource>, name: string): Promise<ReconcileOutcome> {
    const reconciler = this.#reconcilers.get(kind);
    if (reconciler === undefined) throw new Error(`no controller of ${kind.kind} runs here`);
    return reconciler.reconcile(await this.read(kind, name), silent);
  }

  async settle(times = 4): Promise<void> {
    for (let turn = 0; turn < times; turn += 1) await this.reconcile();
  }

  /** A tenant that runs and has data, unless something else is said. */
  tenant(name = 'shop', replicas = 2, more: object = {}): Promise<TenantControlPlane> {
    const tcp = tenantControlPlaneWith({
      metadata: { namespace: 'tenants', name },
      deployment: { replicas },
    });
    const setup = { schema: 'a', user: 'a' };
    const status = { storage: { driver: 'etcd', dataStoreName: 'default', setup }, conditions: [storeReady] };
    const { apiVersion, kind, metadata, spec } = tcp;
    return this.cluster.seed(tenantControlPlane, {
      ...{ apiVersion, kind, spec, status },
      metadata: { namespace: metadata.namespace, name, ...more },
    });
  }

  policy(spec: object = {}, name = 'hourly'): Promise<BackupPolicy> {
    return this.#create(backupPolicy, name, {
      tenantControlPlaneName: 'shop',
      interval: '1h',
      ...group,
      storage,
      ...spec,
    });
  }

  backup(spec: object = {}, name = 'once'): Promise<TenantBackup> {
    return this.#create(tenantBackup, name, { source: { tenantControlPlaneName: 'shop', ...group, storage }, ...spec });
  }

  /** A restore, whose user has created the Secret with the key. */
  async restore(spec: object = {}, name = 'back'): Promise<TenantRestore> {
    if (this.hasKey) await this.key();
    const source = { repository: shopSource };
    return this.#create(tenantRestore, name, { tenantControlPlaneName: 'shop', type: 'InPlace', source, ...spec });
  }

  /** The Secret with the key of the backups has this content; by default, a key of 32 bytes. */
  async key(data: Readonly<Record<string, string>> = { key: Buffer.alloc(32, 3).toString('base64') }): Promise<void> {
    const metadata = { namespace: 'tenants', name: 'backup-key' };
    const bytes = Object.entries(data).map(([name, text]) => [name, Buffer.from(text).toString('base64')] as const);
    await this.cluster.seed(kinds.Secret, {
      ...{ apiVersion: 'v1', kind: 'Secret', metadata, data: Object.fromEntries(bytes) },
    });
  }

  /** A pod of a control plane that runs, or that has ended on its own. */
  async pod(tenant: string, phase: 'Running' | 'Failed' = 'Running'): Promise<Key> {
    const key = { namespace: 'tenants', name: `${tenant}-abc` };
    const metadata = { ...key, labels: { [labels.name]: tenant } };
    await this.cluster.seed(kinds.Pod, { apiVersion: 'v1', kind: 'Pod', metadata, status: { phase } });
    return key;
  }

  #create<T extends NamespacedResource>(kind: KindRef<T>, name: string, spec: object): Promise<T> {
    const metadata = { namespace: 'tenants', name };
    return this.cluster.admin.create(kind, { apiVersion: apiVersionOf(kind), kind: kind.kind, metadata, spec });
  }

  /** The object as it is now. */
  async read<T extends NamespacedResource>(kind: KindRef<T>, name: string): Promise<T> {
    const found = await this.cluster.admin.get(kind, { namespace: 'tenants', name });
    if (found === undefined) throw new Error(`there is no ${kind.kind} ${name}`);
    return found;
  }

  /** A condition as `Status Reason`. */
  async condition(kind: KindRef<NamespacedResource>, name: string, type: string): Promise<string | undefined> {
    const { status } = (await this.read(kind, name)) as unknown as BackupPolicy;
    const found = status?.conditions?.find((one) => one.type === type);
    return found && `${found.status} ${found.reason}`;
  }

  /** A process reports. */
  async report(kind: KindRef<NamespacedResource>, name: string, process: object): Promise<void> {
    const body = { status: { process } };
    const key = { namespace: 'tenants', name };
    await this.cluster.admin.patch(kind, key, { type: 'merge', body }, { subresource: 'status' });
  }

  deploymentOf({ metadata }: BackupPolicy): Promise<Deployment | undefined> {
    const key = { namespace: 'steward-system', name: backupProcess('backup', metadata.uid) };
    return this.cluster.admin.get(kinds.Deployment, key);
  }

  jobOf(component: 'backup' | 'restore' | 'removal', { metadata }: NamespacedResource): Promise<Job | undefined> {
    const key = { namespace: 'steward-system', name: backupProcess(component, metadata.uid) };
    return this.cluster.admin.get(kinds.Job, key);
  }

  /** The Job ends as Kubernetes reports it. */
  async jobEnds(
    component: 'backup' | 'restore' | 'removal',
    owner: NamespacedResource,
    type: 'Complete' | 'Failed' = 'Complete',
  ): Promise<void> {
    const key = { namespace: 'steward-system', name: backupProcess(component, owner.metadata.uid) };
    const condition = { type, status: 'True', message: `the Job is ${type}`, reason: type };
    const body = { status: { conditions: [condition] } };
    await this.cluster.admin.patch(kinds.Job, key, { type: 'merge', body }, { subresource: 'status' });
  }
}

/** What the process of a policy reports after so many backups, one an hour from 2030 on. */
export function reportOf(backups: number): { readonly backups: readonly object[]; readonly changesUntil: string } {
  const at = (hour: number): string => new Date(Date.UTC(2030, 0, 1, hour)).toISOString();
  return {
    backups: Array.from({ length: backups }, (_, hour) => ({
      ...{ time: at(hour), revision: String(100 + hour), keys: 3, bytes: 300 },
      ...(hour < backups - 1 && { changesUntil: at(hour + 1) }),
    })),
    changesUntil: new Date(Date.UTC(2030, 0, 1, backups - 1, 0, 30)).toISOString(),
  };
}
