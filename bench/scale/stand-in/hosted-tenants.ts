import { kinds } from '../../../api/core/kinds.ts';
import type { Deployment } from '../../../api/core/kinds.ts';
import { dataKeys, labels, tenantObjects } from '../../../api/names.ts';
import type { Cluster } from '../../../runtime/client/cluster.ts';
import { InformerFactory } from '../../../runtime/cache/informer-factory.ts';
import { RealTenant, realNamespace } from './real-tenant.ts';
import type { ServingTenant } from './real-tenant.ts';
import { StandInTenant } from './stand-in-tenant.ts';
import type { Asker, ServingFiles } from './stand-in-tenant.ts';

/** What happened to the API servers of all tenants so far, and how many connections lead to them now. */
export interface HostedCounts {
  readonly asked: Readonly<Record<Asker, number>>;
  /** To each tenant of the stand-in. */
  readonly connections: readonly number[];
}

interface Hosted {
  readonly tenant: ServingTenant;
  readonly host: string;
  readonly port: number;
}

/**
 * Plays the kubelets and the controller of Deployments for control planes: the API server of a Deployment serves at the address of its
 * Service as soon as the Deployment exists, and the Deployment's status says that its pods are ready. There are no pods.
 */
export class HostedTenants {
  readonly #cluster: Cluster;
  readonly #informers: InformerFactory;
  readonly #hosted = new Map<string, Hosted>();
  /** The last work for each Deployment: what follows waits for it. */
  readonly #work = new Map<string, Promise<void>>();
  readonly #down = new Set<string>();
  readonly #asked: Record<Asker, number> = { probe: 0, line: 0, call: 0 };
  readonly #failed: (error: unknown) => void;

  /** @param failed hears what only a mistake here can cause. */
  constructor(cluster: Cluster, failed: (error: unknown) => void) {
    this.#cluster = cluster;
    this.#failed = failed;
    this.#informers = new InformerFactory({ cluster });
  }

  async start(): Promise<void> {
    const informer = this.#informers.informer({ kind: kinds.Deployment, labelSelector: labels.name });
    informer.subscribe((old, now) => {
      const seen = now ?? old;
      if (seen !== undefined) this.#enqueue(idOf(seen), now);
    });
    await informer.synced;
  }

  counts(): HostedCounts {
    return {
      asked: { ...this.#asked },
      connections: [...this.#hosted.values()].map(({ tenant }) => tenant.connections),
    };
  }

  /** The node of these control planes (`namespace/name`) dies, or they run again elsewhere. Resolves when all statuses say so. */
  async setDown(ids: readonly string[], isDown: boolean): Promise<void> {
    const informer = this.#informers.informer<Deployment>({ kind: kinds.Deployment, labelSelector: labels.name });
    for (const id of ids) {
      if (isDown) this.#down.add(id);
      else this.#down.delete(id);
      const [namespace = '', name = ''] = id.split('/');
      const deployment = informer.get({ namespace, name });
      if (deployment !== undefined) this.#enqueue(id, deployment, true);
    }
    await Promise.all(ids.map((id) => this.#work.get(id) ?? Promise.resolve()));
  }

  /** Ends all API servers. */
  async stop(): Promise<void> {
    await this.#informers.close();
    await Promise.all(this.#work.values());
    for (const { tenant } of this.#hosted.values()) await tenant.pause();
  }

  /** @param isNews the Deployment's status says nothing of it yet. */
  #enqueue(id: string, now: Deployment | undefined, isNews = false): void {
    const before = this.#work.get(id) ?? Promise.resolve();
    const next = before
      .then(() => (now === undefined ? this.#end(id) : this.#run(id, now, isNews)))
      .catch(this.#failed);
    this.#work.set(id, next);
  }

  async #end(id: string): Promise<void> {
    const hosted = this.#hosted.get(id);
    this.#hosted.delete(id);
    this.#work.delete(id);
    await hosted?.tenant.pause();
  }

  async #run(id: string, deployment: Deployment, isNews: boolean): Promise<void> {
    const { metadata, spec, status } = deployment;
    if (metadata.deletionTimestamp !== undefined) return;
    const wanted = this.#down.has(id) ? 0 : (spec?.replicas ?? 1);
    const isSettled = status?.observedGeneration === metadata.generation && (status?.readyReplicas ?? 0) === wanted;
    if (isSettled && !isNews) return;
    if (!(await this.#serve(id, deployment, wanted > 0))) return;
    const replicas = spec?.replicas ?? 1;
    const counts = { replicas, updatedReplicas: replicas, readyReplicas: wanted, availableReplicas: wanted };
    const now = new Date().toISOString().replace(/\.\d+Z$/, 'Z');
    // Without times, the API server answers with null for them, which no status can hold.
    const times = { lastUpdateTime: now, lastTransitionTime: now };
    const available = {
      type: 'Available',
      status: wanted > 0 ? 'True' : 'False',
      reason: 'StandIn',
      message: '',
      ...times,
    };
    const body = { status: { observedGeneration: metadata.generation, ...counts, conditions: [available] } };
    const key = { namespace: metadata.namespace, name: metadata.name };
    const options = { subresource: 'status', fieldManager: 'kube-controller-manager' } as const;
    try {
      await this.#cluster.patch(kinds.Deployment, key, { type: 'merge', body }, options);
    } catch (error) {
      // It has been deleted meanwhile, which its watch says next.
      if ((await this.#cluster.get(kinds.Deployment, key)) !== undefined) throw error;
    }
  }

  /** False if it cannot: a kubelet waits for what is not there. The Deployment is applied last, so it has been deleted with the rest. */
  async #serve(id: string, deployment: Deployment, serves: boolean): Promise<boolean> {
    const known = this.#hosted.get(id);
    if (!serves) {
      await known?.tenant.pause();
      return true;
    }
    const files = await this.#filesOf(deployment);
    const hosted = known ?? (files === undefined ? undefined : await this.#hostedBy(deployment, files));
    if (hosted === undefined || files === undefined) return false;
    this.#hosted.set(id, hosted);
    hosted.tenant.use(files);
    await hosted.tenant.listen(hosted.host, hosted.port);
    return true;
  }

  async #hostedBy(deployment: Deployment, files: ServingFiles): Promise<Hosted | undefined> {
    const { namespace, name } = deployment.metadata;
    const service = await this.#cluster.get(kinds.Service, { namespace, name: tenantObjects(name).service });
    const [host, port] = [service?.spec?.clusterIP, service?.spec?.ports?.[0]?.port];
    if (host === undefined || port === undefined) return undefined;
    const version = versionOf(deployment);
    const asked = (by: Asker): void => {
      this.#asked[by] += 1;
    };
    const tenant =
      namespace === realNamespace
        ? new RealTenant({ cluster: this.#cluster, deployment, files, version })
        : new StandInTenant(files, version, asked);
    return { tenant, host, port };
  }

  async #filesOf({ metadata: { namespace, name } }: Deployment): Promise<ServingFiles | undefined> {
    const names = tenantObjects(name);
    const [server, authority] = await Promise.all(
      [names.apiServer, names.ca].map((secret) => this.#cluster.get(kinds.Secret, { namespace, name: secret })),
    );
    if (server === undefined || authority === undefined) return undefined;
    const text = (value: string | undefined): string => Buffer.from(value ?? '', 'base64').toString('utf8');
    return {
      certificate: text(server.data?.[dataKeys.apiServer.certificate]),
      key: text(server.data?.[dataKeys.apiServer.key]),
      clientCa: text(authority.data?.['ca.crt']),
    };
  }
}

const idOf = ({ metadata: { namespace, name } }: Deployment): string => `${namespace}/${name}`;

/** Of the image that it would run. */
function versionOf({ spec }: Deployment): string {
  const image = spec?.template.spec?.containers.find(({ name }) => name === 'kube-apiserver')?.image ?? '';
  return image.slice(image.lastIndexOf(':') + 1);
}
