import { kinds } from '../../../api/core/kinds.ts';
import type { Deployment, Job, Pod } from '../../../api/core/kinds.ts';
import type { Key, NamespacedResource } from '../../../api/meta.ts';
import { backupComponents, backupProcess, labels } from '../../../api/names.ts';
import type { BackupStorage } from '../../../api/steward/v1alpha1/backup/backup-place.ts';
import type { Cluster } from '../../../runtime/client/cluster.ts';
import { createIfAbsent } from '../../../runtime/client/create-if-absent.ts';
import { processDeployment, processJob } from './process-manifest.ts';
import type { BackupProcess } from './process-manifest.ts';
import { isAtWork, jobState, podTroubles } from './process-state.ts';

/** How processes of backups are run. */
export interface ProcessOptions {
  readonly cluster: Cluster;
  /** The manager's namespace. */
  readonly namespace: string;
  /** The image of the processes. */
  readonly image: (signal: AbortSignal) => Promise<string>;
  /** The PersistentVolumeClaims in the manager's namespace that users may name. */
  readonly claims: ReadonlySet<string>;
  /** The Secrets of buckets in the manager's namespace that users may name. */
  readonly buckets: ReadonlySet<string>;
}

type Component = BackupProcess['component'];

/** The processes of backups in the manager's namespace. All methods throw what the API server throws. */
export class BackupProcesses {
  readonly #options: ProcessOptions;

  constructor(options: ProcessOptions) {
    this.#options = options;
  }

  get namespace(): string {
    return this.#options.namespace;
  }

  /** Why nothing may be read or written there, for a person; undefined if the operator allows it. */
  refusal({ persistentVolumeClaim, bucket }: BackupStorage): string | undefined {
    const { claims, buckets, namespace } = this.#options;
    const [what, name, allowed] =
      bucket === undefined
        ? ['PersistentVolumeClaim', persistentVolumeClaim?.claimName ?? '', claims]
        : ['the bucket of Secret', bucket.secretName, buckets];
    if (allowed.has(name)) return undefined;
    const flag = bucket === undefined ? '--backup-claims' : '--backup-buckets';
    const others =
      allowed.size === 0
        ? 'none is allowed yet'
        : `these of the namespace are allowed: ${[...allowed].sort().join(', ')}`;
    return `${what} ${namespace}/${name} is not allowed for backups: ${others}; the operator allows it with the manager's flag ${flag}`;
  }

  /** Runs a process that goes on, and brings it to what is wanted. */
  async run(process: BackupProcess, signal: AbortSignal): Promise<Deployment> {
    const manifest = processDeployment(process, await this.#settings(signal));
    return this.#options.cluster.apply(kinds.Deployment, manifest, { fieldManager: 'steward', signal });
  }

  /** Starts a process that ends; one that was started before is not changed. */
  async start(process: BackupProcess, signal: AbortSignal): Promise<void> {
    const manifest = processJob(process, await this.#settings(signal));
    await createIfAbsent(this.#options.cluster, { kind: kinds.Job, manifest }, { fieldManager: 'steward', signal });
  }

  /** The Job that works for an object; undefined if there is none. */
  job(component: Component, owner: NamespacedResource, signal: AbortSignal): Promise<Job | undefined> {
    return this.#options.cluster.get(kinds.Job, this.#keyOf(component, owner), { signal });
  }

  /** Ends the Deployment or Job that works for an object. True once it and its pods are gone. */
  async end(
    kind: typeof kinds.Deployment | typeof kinds.Job,
    component: Component,
    owner: NamespacedResource,
    signal: AbortSignal,
  ): Promise<boolean> {
    const { cluster } = this.#options;
    const key = this.#keyOf(component, owner);
    const found =
      kind === kinds.Job
        ? await cluster.get(kinds.Job, key, { signal })
        : await cluster.get(kinds.Deployment, key, { signal });
    if (found !== undefined) await cluster.delete(kind, key, { propagation: 'Background', signal });
    return found === undefined && (await this.#podsOf(component, owner, signal)).length === 0;
  }

  /**
   * Ends the Jobs that restore a TenantControlPlane, and names them and their pods while they still work. A process writes with the
   * administrative credentials of the datastore, so nothing else locks it out.
   */
  async endRestores(tenant: Required<Key>, signal: AbortSignal): Promise<readonly string[]> {
    const { cluster, namespace } = this.#options;
    const labelSelector = [
      `${labels.component}=${backupComponents.restore}`,
      `${labels.migrationNamespace}=${tenant.namespace}`,
      `${labels.migrationTenant}=${tenant.name}`,
    ].join(',');
    // Jobs first: a pod that one of them has created meanwhile is seen then.
    const found = await cluster.list(kinds.Job, { namespace, labelSelector, signal });
    const jobs = found.items.filter((job) => jobState(job).is === 'running');
    for (const { metadata } of jobs) {
      const { name, uid, deletionTimestamp } = metadata;
      if (deletionTimestamp !== undefined) continue;
      await cluster.delete(kinds.Job, { namespace, name }, { propagation: 'Background', uid, signal });
    }
    const pods = await cluster.list(kinds.Pod, { namespace, labelSelector, signal });
    return [...jobs, ...pods.items.filter(isAtWork)].map(({ metadata }) => metadata.name);
  }

  /** What keeps the pods that work for an object from running; empty if nothing does. */
  async troubles(component: Component, owner: NamespacedResource, signal: AbortSignal): Promise<string> {
    return podTroubles(await this.#podsOf(component, owner, signal));
  }

  /** Names the pods, Jobs and Deployments that work on the data of a TenantControlPlane, but for those of one object. */
  async atWork(tenant: Required<Key>, except: string, signal: AbortSignal): Promise<readonly string[]> {
    const { cluster, namespace } = this.#options;
    const labelSelector = [
      `${labels.component} in (${Object.values(backupComponents).join(',')})`,
      `${labels.migrationNamespace}=${tenant.namespace}`,
      `${labels.migrationTenant}=${tenant.name}`,
    ].join(',');
    const [pods, jobs, deployments] = await Promise.all([
      cluster.list(kinds.Pod, { namespace, labelSelector, signal }),
      cluster.list(kinds.Job, { namespace, labelSelector, signal }),
      cluster.list(kinds.Deployment, { namespace, labelSelector, signal }),
    ]);
    const isOther = ({ metadata }: NamespacedResource): boolean => metadata.labels?.[labels.backupOwner] !== except;
    return [
      ...pods.items.filter((pod) => isOther(pod) && isAtWork(pod)),
      ...jobs.items.filter((job) => isOther(job) && jobState(job).is === 'running'),
      ...deployments.items.filter(isOther),
    ].map(({ metadata }) => metadata.name);
  }

  async #settings(signal: AbortSignal): Promise<{ readonly namespace: string; readonly image: string }> {
    const { namespace, image } = this.#options;
    return { namespace, image: await image(signal) };
  }

  #keyOf(component: Component, { metadata }: NamespacedResource): Key {
    return { namespace: this.#options.namespace, name: backupProcess(component, metadata.uid) };
  }

  async #podsOf(component: Component, { metadata }: NamespacedResource, signal: AbortSignal): Promise<readonly Pod[]> {
    const { cluster, namespace } = this.#options;
    const labelSelector = `${labels.component}=${backupComponents[component]},${labels.backupOwner}=${metadata.uid}`;
    const { items } = await cluster.list(kinds.Pod, { namespace, labelSelector, signal });
    return items.filter(isAtWork);
  }
}
