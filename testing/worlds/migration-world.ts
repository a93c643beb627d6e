import type { Job, Pod } from '../../api/core/kinds.ts';
import { kinds } from '../../api/core/kinds.ts';
import type { PolicyRule } from '../../api/meta.ts';
import { annotations, freezePolicy, labels } from '../../api/names.ts';
import { dataStore } from '../../api/steward/v1alpha1/data-store.ts';
import type { MigrationStatus } from '../../api/steward/v1alpha1/migration-status.ts';
import type { TenantControlPlane } from '../../api/steward/v1alpha1/tenant-control-plane.ts';
import type { InformerFactory } from '../../runtime/cache/informer-factory.ts';
import { ApiError } from '../../runtime/client/errors.ts';
import type { Call } from '../fake/fake-faults.ts';
import { MemoryStore } from '../fake/memory-driver.ts';
import type { TenantControlPlaneChanges } from '../builders/tenant-control-plane.ts';
import { TenantWorld } from './tenant-world.ts';
import { verifiedIsolation } from '../builders/verified-isolation.ts';

const operatorNamespace = 'steward-system';
const namespace = 'default';

/** A tenant in etcd that can move to a second store, with pods, API servers that obey the freeze, and the Job's process. */
export class MigrationWorld extends TenantWorld {
  readonly target: MemoryStore;
  /** False: terminating pods stay until `finishPods`. */
  podsStop = true;
  /** API servers that ignore policies. */
  deafServers = false;
  #pods = 0;
  #replaced: Promise<void> = Promise.resolve();

  constructor(
    options: {
      readonly minimumHoldMs?: number;
      readonly beside?: readonly PolicyRule[];
      /** Caches; empty by default. */
      readonly informers?: (world: TenantWorld) => Pick<InformerFactory, 'informer'>;
    } = {},
  ) {
    const target = new MemoryStore({ kine: true });
    super({
      others: [target],
      beside: options.beside,
      ...(options.informers !== undefined && { informers: options.informers }),
      migrations: {
        namespace: operatorNamespace,
        serviceAccount: 'steward-migrate',
        image: () => Promise.resolve('steward:test'),
        minimumHoldMs: options.minimumHoldMs ?? 0,
      },
    });
    this.target = target;
    this.cluster.after(async ({ kind, verb }) => {
      if (kind?.kind !== 'Deployment' || verb !== 'apply') return;
      // One look after the other, as a controller does, also when two managers apply at once: each look makes the pods that it misses.
      const look = (): Promise<void> => this.#replacePods();
      this.#replaced = this.#replaced.then(look, look);
      await this.#replaced;
    });
    this.tenant.before((call) => this.#deny(call));
  }

  override async create(changes: TenantControlPlaneChanges = {}): Promise<TenantControlPlane> {
    await this.leadTo('other', this.target);
    return super.create(changes);
  }

  override async copyFrom(other: this): Promise<void> {
    await super.copyFrom(other);
    this.target.copyFrom(other.target);
    this.podsStop = other.podsStop;
    this.deafServers = other.deafServers;
    this.#pods = other.#pods;
  }

  /** Stores a DataStore that leads to `store`. */
  async leadTo(name: string, store: MemoryStore): Promise<void> {
    await this.cluster.seed(dataStore, {
      apiVersion: 'steward.butlerlabs.dev/v1alpha1',
      kind: 'DataStore',
      metadata: { name },
      spec: { driver: store.driver.name, endpoints: [`${name}:1`] },
      status: { conditions: [verifiedIsolation] },
    });
  }

  /** A tenant that runs on the first store. */
  async running(changes: TenantControlPlaneChanges = {}): Promise<void> {
    await this.create(changes);
    await this.settle();
  }

  /** What a person does who wants the data moved. */
  async moveTo(store: string): Promise<void> {
    await this.change({ spec: { dataStore: store } });
  }

  async record(): Promise<MigrationStatus> {
    const record = (await this.read()).status?.storage?.migration;
    if (record === undefined) throw new Error('no migration is on record');
    return record;
  }

  /** The Job of the migration, if there is one. */
  async job(): Promise<Job | undefined> {
    const { uid } = (await this.read()).metadata;
    return this.cluster.admin.get(kinds.Job, { namespace: operatorNamespace, name: `migrate-${uid}` });
  }

  /** Writes the annotations of the Job's process; undefined removes one. */
  async say(
    values: Partial<Record<'journal' | 'progress', object> & Record<'wish' | 'failure', string | null>>,
  ): Promise<void> {
    const { metadata } = (await this.job()) ?? { metadata: { name: '' } };
    const { journal, progress, wish, failure } = values;
    const body = {
      metadata: {
        annotations: {
          ...(journal !== undefined && { [annotations.migrationJournal]: JSON.stringify(journal) }),
          ...(progress !== undefined && { [annotations.migrationProgress]: JSON.stringify(progress) }),
          ...(wish !== undefined && { [annotations.migrationFreezeWanted]: wish }),
          ...(failure !== undefined && { [annotations.migrationFailure]: failure }),
        },
      },
    };
    await this.cluster.admin.patch(
      kinds.Job,
      { namespace: operatorNamespace, name: metadata.name },
      { type: 'merge', body },
    );
  }

  /** One annotation of the Job. */
  async told(annotation: string): Promise<string | undefined> {
    return (await this.job())?.metadata.annotations?.[annotation];
  }

  /**
   * What the process does next, from what the Job says: copies, asks for the freeze, takes the writes, finishes; or rolls
   * back on request. A process that dies does it again.
   */
  async work(): Promise<void> {
    const said = (await this.job())?.metadata.annotations;
    if (said === undefined) return;
    const journal = JSON.parse(said[annotations.migrationJournal] ?? '{}') as { phase?: string };
    const source = this.store.tenancies.keys().next().value ?? '';
    if (said[annotations.migrationCancel] !== undefined && journal.phase !== 'Done') {
      this.store.dataOf(source).fenced = false;
      await this.say({ journal: { phase: 'RolledBack', reason: said[annotations.migrationCancel] }, wish: null });
      return;
    }
    switch (journal.phase) {
      case undefined:
        await this.say({ journal: { phase: 'Copying' }, progress: progress('Copying', 10, 30) });
        return;
      case 'Copying':
        await this.say({ journal: { phase: 'Following' }, progress: progress('Following', 40, 0) });
        return;
      case 'Following':
        await this.say({ journal: { phase: 'WaitingForReadOnly' }, wish: 'first' });
        return;
      case 'WaitingForReadOnly':
        if (said[annotations.migrationFreezeInForce] !== 'first') return;
        this.store.dataOf(source).fenced = true;
        await this.say({ journal: { phase: 'Finishing' } });
        return;
      case 'Finishing':
        await this.say({ journal: { phase: 'Done', summary: { keys: 41 } } });
        return;
    }
  }

  /** Lets manager and process work by turns until the migration has ended. */
  async migrate(): Promise<MigrationStatus> {
    for (let turn = 0; turn < 60; turn += 1) {
      await this.reconcile();
      await this.work();
      const storage = (await this.read()).status?.storage;
      if (storage?.migration?.finishedAt !== undefined) return storage.migration;
      await this.clock.advance(200);
    }
    throw new Error(`the migration does not end: ${JSON.stringify(await this.record())}`);
  }

  /** Works by turns until the migration is in this phase. */
  async until(phase: MigrationStatus['phase']): Promise<void> {
    for (let turn = 0; turn < 60; turn += 1) {
      if ((await this.read()).status?.storage?.migration?.phase === phase) return;
      await this.work();
      await this.reconcile();
    }
    throw new Error(`the migration does not reach ${phase}: ${JSON.stringify(await this.record())}`);
  }

  /** True while the tenant holds the policy that denies writes. */
  async frozen(): Promise<boolean> {
    const binding = await this.tenant.admin.get(kinds.ValidatingAdmissionPolicyBinding, { name: freezePolicy });
    return binding !== undefined;
  }

  async pods(): Promise<readonly Pod[]> {
    return (await this.cluster.admin.list(kinds.Pod, { namespace })).items;
  }

  /** The terminating pods are gone. */
  async finishPods(): Promise<void> {
    for (const { metadata } of await this.pods()) {
      if (metadata.deletionTimestamp === undefined) continue;
      const body = { metadata: { finalizers: null } };
      await this.cluster.admin.patch(kinds.Pod, { namespace, name: metadata.name }, { type: 'merge', body });
    }
  }

  /**
   * The DataStores of the pods that get the requests of the tenant's users: of those that the Service selects and that are ready, or
   * else of those that still serve while they end.
   */
  async reached(): Promise<readonly string[]> {
    const service = await this.cluster.admin.get(kinds.Service, { namespace, name: 'tenant' });
    const selected = (await this.pods()).filter(
      ({ metadata, status }) =>
        Object.entries(service?.spec?.selector ?? {}).every(([name, value]) => metadata.labels?.[name] === value) &&
        status?.conditions?.some((condition) => condition.type === 'Ready' && condition.status === 'True') === true,
    );
    const staying = selected.filter(({ metadata }) => metadata.deletionTimestamp === undefined);
    const serving = staying.length > 0 ? staying : selected;
    return [...new Set(serving.map(({ metadata }) => metadata.labels?.[storeLabel] ?? ''))];
  }

  /** What the Deployment's controller does: pods of the present template, as many as are wanted, and no others. */
  async #replacePods(): Promise<void> {
    const deployment = await this.deployment();
    const template = deployment?.spec?.template;
    const old = await this.pods();
    const same = (pod: Pod): boolean =>
      pod.metadata.deletionTimestamp === undefined &&
      JSON.stringify(pod.metadata.labels) === JSON.stringify(template?.metadata?.labels);
    const count = deployment?.spec?.replicas ?? 0;
    const wanted = this.podsStart ? count : 0;
    for (let missing = wanted - old.filter(same).length; missing > 0; missing -= 1) {
      this.#pods += 1;
      await this.cluster.seed(kinds.Pod, {
        apiVersion: 'v1',
        kind: 'Pod',
        metadata: {
          name: `tenant-${this.#pods}`,
          namespace,
          labels: { ...template?.metadata?.labels },
          finalizers: ['test/kubelet'],
        },
        status: {
          phase: 'Running',
          podIP: `10.0.0.${this.#pods}`,
          conditions: [{ type: 'Ready', status: 'True' }],
        },
      });
    }
    const surplus = old.filter(same).slice(count);
    const former = this.podsStart || count === 0 ? old.filter((pod) => !same(pod)) : [];
    for (const { metadata } of [...surplus, ...former]) {
      await this.cluster.admin.delete(kinds.Pod, { namespace, name: metadata.name }, { gracePeriodSeconds: 30 });
    }
    if (this.podsStop) await this.finishPods();
  }

  async #deny({ verb, kind }: Call): Promise<void> {
    const isWrite = verb === 'create' || verb === 'apply' || verb === 'patch' || verb === 'delete';
    if (!isWrite || this.deafServers || kind?.plural.startsWith('validatingadmissionpolic') === true) return;
    if (!(await this.frozen())) return;
    const policy = await this.tenant.admin.get(kinds.ValidatingAdmissionPolicy, { name: freezePolicy });
    if (policy === undefined) return;
    const message = `ValidatingAdmissionPolicy '${freezePolicy}' with binding '${freezePolicy}' denied request: later`;
    throw new ApiError(403, 'Forbidden', message);
  }
}

/** How far a process is. */
function progress(phase: string, keys: number, remainingKeys: number): object {
  return { phase, keys, bytes: keys * 100, keysPerSecond: 5, bytesPerSecond: 500, remainingKeys };
}

/** The label of pods with their datastore. */
export const storeLabel = `component.${labels.name.split('/')[0] ?? ''}/datastore`;
