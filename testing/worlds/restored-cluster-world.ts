import { capiCluster } from '../../api/cluster-api/kinds.ts';
import type { StewardControlPlane } from '../../api/controlplane/steward-control-plane.ts';
import { stewardControlPlane } from '../../api/controlplane/steward-control-plane.ts';
import { kinds } from '../../api/core/kinds.ts';
import type { Job } from '../../api/core/kinds.ts';
import type { Key } from '../../api/meta.ts';
import { tenantRestore } from '../../api/steward/v1alpha1/backup/tenant-restore.ts';
import type { TenantRestore } from '../../api/steward/v1alpha1/backup/tenant-restore.ts';
import { retainedControlPlane } from '../../api/steward/v1alpha1/retained-control-plane.ts';
import { tenantControlPlane } from '../../api/steward/v1alpha1/tenant-control-plane.ts';
import { runRestore } from '../../cmd/backup/run-restore.ts';
import { statusReport } from '../../cmd/backup/status-report.ts';
import { access as recordAccess } from '../../controllers/retainedcontrolplane/access.ts';
import { retainedControlPlaneController } from '../../controllers/retainedcontrolplane/controller.ts';
import { access as controlPlaneAccess } from '../../controllers/stewardcontrolplane/access.ts';
import { stewardControlPlaneController } from '../../controllers/stewardcontrolplane/controller.ts';
import { removeData } from '../../controllers/tenantcontrolplane/deletion.ts';
import {
  access as restoreAccess,
  operatorNamespaceAccess as processAccess,
} from '../../controllers/tenantrestore/access.ts';
import { tenantRestoreController } from '../../controllers/tenantrestore/controller.ts';
import { silent } from '../../runtime/observe/logger.ts';
import type { Reconciler } from '../../runtime/reconcile/reconciler.ts';
import { BackupProcesses } from '../../stores/backup/process/processes.ts';
import { noBlockerWatches } from '../fake/no-blocker-watches.ts';
import { noInfrastructureWatches } from '../fake/no-infrastructure-watches.ts';
import type { MemoryRepository } from '../fake/memory-repository.ts';
import { BackupWorld } from './backup-world.ts';
import { worldReconciler } from './world-reconciler.ts';

/** The name of the StewardControlPlane and of its TenantControlPlane; the Cluster has another one, as with a topology. */
export const key = { namespace: 'default', name: 'tenant' };

/** The name of the Cluster. */
export const clusterName = 'prod';

/** The name of the TenantRestore. */
export const restoreKey = { namespace: 'default', name: 'tenant-restore' };

/** The Secret of the user with the key of the backups. */
const keySecret = 'backup-key';

/** What the process of a restore works for. */
interface Working {
  readonly uid: string;
  readonly stop: AbortController;
}

/**
 * A Cluster whose StewardControlPlane starts from a backup: its controller, those of the TenantControlPlane and of the TenantRestore are
 * one process that may die, and the restore is another one.
 */
export class RestoredClusterWorld extends BackupWorld {
  /** How often the process of a restore has begun to write data. */
  restores = 0;
  /** False: pods of the manager's namespace are not started. */
  processesStart = true;
  #working: Working | undefined;
  #reconcilers: ReturnType<RestoredClusterWorld['start']>;

  constructor() {
    super({ beside: [...controlPlaneAccess, ...recordAccess, ...restoreAccess, ...processAccess] });
    this.clusterName = clusterName;
    this.onReport = ({ step }) => {
      if (step === 'Restoring') this.restores += 1;
      return Promise.resolve();
    };
    this.#reconcilers = this.start();
  }

  /** One whose StewardControlPlane has just been created; `backups` has those of a control plane `shop`. */
  static async from(backups: MemoryRepository, spec: object = {}): Promise<RestoredClusterWorld> {
    const world = new RestoredClusterWorld();
    for (const [name, content] of backups.files) world.repository.files.set(name, content);
    await world.create();
    // Only the DataStore is wanted of what that stored.
    await world.cluster.admin.delete(tenantControlPlane, key);
    await world.createKey();
    const { metadata } = await world.cluster.seed(capiCluster, {
      apiVersion: 'cluster.x-k8s.io/v1beta2',
      kind: 'Cluster',
      metadata: { ...key, name: clusterName },
      spec: {
        controlPlaneRef: { apiGroup: stewardControlPlane.group, kind: stewardControlPlane.kind, name: key.name },
        clusterNetwork: { services: { cidrBlocks: ['10.112.0.0/16'] }, pods: { cidrBlocks: ['10.128.0.0/16'] } },
      },
    });
    const owner = { apiVersion: 'cluster.x-k8s.io/v1beta2', kind: 'Cluster', name: clusterName, uid: metadata.uid };
    await world.cluster.seed(stewardControlPlane, {
      apiVersion: 'controlplane.cluster.x-k8s.io/v1alpha2',
      kind: stewardControlPlane.kind,
      metadata: { ...key, ownerReferences: [owner] },
      spec: {
        version: '1.36.3',
        replicas: 2,
        registry: 'registry.k8s.io',
        dataStoreName: 'default',
        kubelet: { preferredAddressTypes: ['InternalIP'], cgroupfs: 'cgroupfs' },
        network: { serviceType: 'NodePort', serviceAddress: '192.0.2.1' },
        addons: {},
        restoreFrom: {
          repository: {
            tenantControlPlaneName: 'shop',
            encryption: { keySecret: { name: keySecret, key: 'key' } },
            storage: { persistentVolumeClaim: { claimName: 'backups' } },
          },
        },
        ...spec,
      },
    });
    return world;
  }

  /** The user creates the Secret with the key of the backups. */
  async createKey(): Promise<void> {
    const metadata = { ...key, name: keySecret };
    const data = { key: Buffer.from(Buffer.alloc(32, 3).toString('base64')).toString('base64') };
    await this.cluster.seed(kinds.Secret, { apiVersion: 'v1', kind: 'Secret', metadata, data });
  }

  override restart(): void {
    super.restart();
    this.#reconcilers = this.start();
  }

  protected start(): Readonly<Record<'controlPlane' | 'restore' | 'record', Reconciler>> {
    const { cluster, clock, events } = this;
    const image = (): Promise<string> => Promise.resolve('steward:test');
    const processes = new BackupProcesses({
      ...{ cluster, image, namespace: 'steward-system', claims: new Set(['backups']), buckets: new Set<string>() },
    });
    const deaf = { infrastructure: noInfrastructureWatches, blockers: noBlockerWatches };
    const stores = this.openStores();
    const of = (controller: Parameters<typeof worldReconciler>[0]): Reconciler =>
      worldReconciler(controller, { cluster, clock, events });
    return {
      controlPlane: of(stewardControlPlaneController({ cluster, watchFilter: '', backups: true, ...deaf })),
      restore: of(tenantRestoreController({ cluster, processes, restores: () => [] })),
      record: of(
        retainedControlPlaneController({
          cluster,
          namespace: '',
          removeData: (former, ctx) =>
            removeData(former, { cluster, stores, defaultDataStore: '', allTenants: () => [] }, ctx),
        }),
      ),
    };
  }

  /** A reconcile by each controller, and a second of the process. */
  async round(): Promise<void> {
    const { admin } = this.cluster;
    const { controlPlane, restore, record } = this.#reconcilers;
    const scp = await admin.get(stewardControlPlane, key);
    if (scp !== undefined) await checked(controlPlane.reconcile(scp, silent));
    const found = await admin.get(tenantRestore, restoreKey);
    if (found !== undefined) await checked(restore.reconcile(found, silent));
    await this.reconcile();
    if ((await this.deployment()) === undefined) await this.collectPods();
    const retained = await admin.get(retainedControlPlane, { name: 'default.tenant' });
    if (retained !== undefined) await checked(record.reconcile(retained, silent));
    if (this.processesStart) await this.#process();
    await this.clock.advance(1000);
  }

  /** Rounds until the condition holds, or the manager dies. */
  async untilHolds(holds: () => Promise<boolean>, rounds = 80): Promise<void> {
    for (let done = 0; done < rounds; done += 1) {
      if (this.cluster.crashed || (await holds())) return;
      await this.round();
    }
    throw new Error(`it does not come to that: ${JSON.stringify((await this.controlPlane())?.status?.conditions)}`);
  }

  /** Rounds until the control plane can be used. */
  untilUsed(): Promise<void> {
    return this.untilHolds(async () => (await this.controlPlane())?.status?.ready === true);
  }

  controlPlane(): Promise<StewardControlPlane | undefined> {
    return this.cluster.admin.get(stewardControlPlane, key);
  }

  restoreNow(): Promise<TenantRestore | undefined> {
    return this.cluster.admin.get(tenantRestore, restoreKey);
  }

  /** A condition of the StewardControlPlane as `Status Reason: message`. */
  async said(type: string): Promise<string> {
    const found = (await this.controlPlane())?.status?.conditions?.find((one) => one.type === type);
    return found === undefined ? 'absent' : `${found.status} ${found.reason}: ${found.message}`;
  }

  /** What is left after a deletion: Secrets, Jobs, TenantRestores, tenancies. */
  async left(): Promise<readonly string[]> {
    const { admin } = this.cluster;
    const lists = await Promise.all([
      admin.list(kinds.Secret, { namespace: key.namespace }),
      admin.list(kinds.Job, { namespace: 'steward-system' }),
      admin.list(tenantRestore, { namespace: key.namespace }),
      admin.list(tenantControlPlane, { namespace: key.namespace }),
      admin.list(retainedControlPlane),
      admin.list(stewardControlPlane, { namespace: key.namespace }),
    ]);
    const objects = lists.flatMap(({ items }) =>
      items.map(({ kind, metadata }) => `${kind === '' ? 'object' : kind} ${metadata.name}`),
    );
    // The key is the user's.
    return [...objects.filter((one) => !one.endsWith(` ${keySecret}`)), ...this.store.tenancies.keys()];
  }

  /** The kubelet runs the process of a Job until that is gone; a Job that fails is not started again. */
  async #process(): Promise<void> {
    const { items } = await this.cluster.admin.list(kinds.Job, { namespace: 'steward-system' });
    const job = items.find(({ status }) => status?.conditions === undefined);
    if (this.#working !== undefined && job?.metadata.uid !== this.#working.uid) {
      this.#working.stop.abort(new Error('the process was asked to end'));
      this.#working = undefined;
    }
    if (job === undefined || this.#working !== undefined) return;
    const stop = new AbortController();
    this.#working = { uid: job.metadata.uid, stop };
    // It works beside the rounds.
    this.#runJob(job, stop.signal).catch((error: unknown) => {
      this.events.push(`ProcessDied: ${String(error)}`);
    });
  }

  async #runJob(job: Job, signal: AbortSignal): Promise<void> {
    const args = job.spec?.template.spec?.containers[0]?.args ?? [];
    const valueOf = (flag: string): string => args.find((arg) => arg.startsWith(`--${flag}=`))?.split('=')[1] ?? '';
    const { metadata } = (await this.restoreNow()) ?? { metadata: { uid: '' } };
    const [namespace = '', name = ''] = valueOf('tenant-control-plane').split('/');
    const tell = statusReport(
      { kind: tenantRestore, key: restoreKey, uid: metadata.uid },
      { cluster: this.cluster.admin, signal },
    );
    const parts = this.parts();
    const task = {
      tenant: { namespace, name },
      original: valueOf('from').split('/')[1] ?? '',
      moves: args.includes('--move'),
      timeoutMs: 600_000,
      id: metadata.uid,
    };
    const report = async (values: Readonly<Record<string, unknown>>): Promise<void> => {
      await parts.report(values);
      await tell(values);
    };
    const ended = await runRestore(task, { ...parts, report, signal }).then(
      () => 'Complete' as const,
      async (error: unknown) => {
        if (!signal.aborted) await report({ problem: error instanceof Error ? error.message : 'unknown' });
        return 'Failed' as const;
      },
    );
    if (signal.aborted) return;
    await this.#endJob(job.metadata, ended);
  }

  async #endJob({ name }: Key, type: 'Complete' | 'Failed'): Promise<void> {
    const body = { status: { conditions: [{ type, status: 'True', message: `the Job is ${type}` }] } };
    const at = { namespace: 'steward-system', name };
    await this.cluster.admin.patch(kinds.Job, at, { type: 'merge', body }, { subresource: 'status' });
  }
}

/** Rejects for a mistake of the code, which the product would only report. */
async function checked(reconciled: ReturnType<Reconciler['reconcile']>): Promise<void> {
  const { error } = await reconciled;
  if (error instanceof TypeError || error instanceof ReferenceError) throw error;
}
