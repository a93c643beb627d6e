import { kinds } from '../../api/core/kinds.ts';
import { tenantControlPlane } from '../../api/steward/v1alpha1/tenant-control-plane.ts';
import type { TenantControlPlane } from '../../api/steward/v1alpha1/tenant-control-plane.ts';
import type { BackupParts } from '../../cmd/backup/backup-parts.ts';
import { runBackup } from '../../cmd/backup/run-backup.ts';
import type { BackupTask } from '../../cmd/backup/run-backup.ts';
import { runRestore } from '../../cmd/backup/run-restore.ts';
import type { RestoreTask } from '../../cmd/backup/run-restore.ts';
import type { Report } from '../../cmd/backup/status-report.ts';
import { wrapCluster } from '../../runtime/client/wrap-cluster.ts';
import { silent } from '../../runtime/observe/logger.ts';
import { BackupKey } from '../../stores/backup/backup-key.ts';
import type { RestoredBackup } from '../../stores/backup/restore-backup.ts';
import { SealedFolder } from '../../stores/backup/sealed-folder.ts';
import { secretReader } from '../../stores/secret-reader.ts';
import { Sessions } from '../../stores/sessions.ts';
import { StoreAccess } from '../../stores/store-access.ts';
import { settle } from '../fake/fake-clock.ts';
import { MemoryRepository } from '../fake/memory-repository.ts';
import type { MemoryTenancy } from '../fake/memory-tenancy.ts';
import { MigrationWorld } from './migration-world.ts';
import { put } from '../builders/put.ts';

const tenant = { namespace: 'default', name: 'tenant' };

/** A control plane that runs in a world, and its backups. */
export class BackupWorld extends MigrationWorld {
  readonly repository = new MemoryRepository();
  readonly stop = new AbortController();
  /** What the commands have reported to the object that they work for. */
  readonly reports: Readonly<Record<string, unknown>>[] = [];
  /** Called with each of these. */
  onReport: (values: Readonly<Record<string, unknown>>) => Promise<void> = () => Promise.resolve();
  /** Called before each write of a command to the management cluster; may throw, as a process dies. */
  beforeWrite: () => void = () => undefined;
  /** The same after a write, whose answer is lost with the process. */
  afterWrite: () => void = () => undefined;

  /** A running control plane with an object. */
  static async begin(): Promise<BackupWorld> {
    const world = new BackupWorld();
    await world.running();
    (await world.data()).tenantWrites(put('pods/a', 'one'));
    return world;
  }

  async data(): Promise<MemoryTenancy> {
    return this.store.dataOf((await this.read()).status?.storage?.setup?.schema ?? '');
  }

  parts(): BackupParts {
    const { clock, cluster } = this;
    const stores = new StoreAccess({
      drivers: [this.store.driver, this.target.driver],
      sessions: new Sessions({ clock }),
      read: secretReader((key) => cluster.admin.get(kinds.Secret, key)),
    });
    const key = new BackupKey(Buffer.alloc(32, 3).toString('base64'));
    const folder = new SealedFolder(this.repository, 'default/tenant', key);
    const dying = wrapCluster(cluster.admin, async ({ isWrite, send }) => {
      if (isWrite) this.beforeWrite();
      const answer = await send();
      if (isWrite) this.afterWrite();
      return answer;
    });
    const report: Report = async (values) => {
      this.reports.push(values);
      await this.onReport(values);
    };
    return { cluster: dying, stores, folder, clock, log: silent, report, signal: this.stop.signal };
  }

  backUp(over: Partial<BackupTask> = {}): Promise<void> {
    return runBackup({ tenant, keep: 3, ...over }, this.parts());
  }

  /** Restores while the manager works. */
  async restore(over: Partial<RestoreTask> = {}): Promise<RestoredBackup | undefined> {
    const state = { isOver: false };
    const task = { tenant, timeoutMs: 60_000, ...over };
    const run = runRestore(task, { ...this.parts(), signal: new AbortController().signal });
    const restored = Promise.allSettled([run]).finally(() => {
      state.isOver = true;
    });
    for (let turn = 0; turn < 100 && !state.isOver; turn += 1) {
      await settle();
      if ((await this.cluster.admin.get(tenantControlPlane, tenant)) !== undefined) await this.reconcile();
      await this.clock.advance(1000);
    }
    const [end] = await restored;
    if (end.status === 'rejected') throw end.reason;
    return end.value;
  }

  /** The control plane is deleted with all that belongs to it. */
  async lose(): Promise<void> {
    await this.cluster.admin.delete(tenantControlPlane, tenant);
    for (let turn = 0; turn < 20; turn += 1) {
      if ((await this.cluster.admin.get(tenantControlPlane, tenant)) === undefined) {
        await this.collectPods();
        return;
      }
      await this.reconcile();
      await this.clock.advance(1000);
    }
    throw new Error('it is not deleted');
  }

  /** What Kubernetes does when a Deployment is gone. */
  async collectPods(): Promise<void> {
    for (const { metadata } of await this.pods()) {
      await this.cluster.admin.delete(kinds.Pod, { namespace: tenant.namespace, name: metadata.name });
    }
    if (this.podsStop) await this.finishPods();
  }

  async authorities(): Promise<readonly unknown[]> {
    const names = ['ca', 'front-proxy-ca-certificate', 'sa-certificate'];
    return Promise.all(names.map(async (name) => (await this.secret(name))?.data));
  }

  replicas({ spec }: TenantControlPlane): number {
    return spec.controlPlane.deployment.replicas;
  }

  /** From now on the backups are those of a control plane of another name, which another object had made, as Cluster API does. */
  async backupsAreOf(original: string): Promise<void> {
    const { folder } = this.parts();
    for (const name of await folder.list('backups/')) {
      const record = JSON.parse(Buffer.from(await folder.read(name)).toString()) as {
        readonly objects: readonly { readonly kind: string; readonly metadata: { readonly name: string } }[];
      };
      const objects = record.objects
        .filter(({ kind }) => kind === 'Secret')
        .map((one) => {
          const renamed = one.metadata.name.replace(/^tenant-/, `${original}-`);
          return { ...one, metadata: { ...one.metadata, name: renamed } };
        });
      await folder.write(name, Buffer.from(JSON.stringify({ ...record, objects })));
    }
  }
}
