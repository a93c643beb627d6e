import { fork } from 'node:child_process';
import type { ChildProcess } from 'node:child_process';
import { kinds } from '../../api/core/kinds.ts';
import { dataKeys, tenantObjects } from '../../api/names.ts';
import { dataStore } from '../../api/steward/v1alpha1/data-store.ts';
import { tenantControlPlane } from '../../api/steward/v1alpha1/tenant-control-plane.ts';
import type { TenantControlPlane } from '../../api/steward/v1alpha1/tenant-control-plane.ts';
import { tenantControlPlaneController } from '../../controllers/tenantcontrolplane/controller.ts';
import { systemClock } from '../../runtime/clock.ts';
import type { Cluster } from '../../runtime/client/cluster.ts';
import type { Connection } from '../../runtime/client/connection.ts';
import { EventRecorder } from '../../runtime/observe/event-recorder.ts';
import { openCluster } from '../../runtime/client/http-cluster.ts';
import { Http2Sessions } from '../../runtime/client/http2/http2-sessions.ts';
import type { ClusterOptions } from '../../runtime/client/http-cluster.ts';
import { InformerFactory } from '../../runtime/cache/informer-factory.ts';
import { silent } from '../../runtime/observe/logger.ts';
import { Manager } from '../../runtime/reconcile/manager.ts';
import { ObjectMemory } from '../../runtime/cache/object-memory.ts';
import { Sessions } from '../../stores/sessions.ts';
import { StoreAccess } from '../../stores/store-access.ts';
import { TenantPool } from '../../tenants/pool.ts';
import { FakeCluster } from '../../testing/fake/fake-cluster.ts';
import { verifiedIsolation } from '../../testing/builders/verified-isolation.ts';
import { seedManagementApi } from '../../testing/worlds/management-api.ts';
import { MemoryStore } from '../../testing/fake/memory-driver.ts';
import { tenantControlPlaneWith } from '../../testing/builders/tenant-control-plane.ts';
import type { Hostility, Opened, Wanted } from './hostile-endpoints.ts';

const namespace = 'default';
const isHostile = (name: string): boolean => name.startsWith('hostile-');
const longestMs = 20 * 60_000;

/**
 * A manager over a cluster in memory. The endpoints of its hostile tenants are real sockets of another process, with the tenants' own
 * certificates; other tenants' API servers are in memory. It plays the kubelets: pods are ready at once.
 */
export class HostileFleet {
  /** Requests to the management cluster so far, by verb and kind. */
  readonly requests = new Map<string, number>();
  #asked = 0;
  readonly #does: Hostility;
  readonly #cluster = new FakeCluster();
  readonly #informers = new InformerFactory({ cluster: this.#cluster.admin });
  readonly #sessions = new Sessions({ clock: systemClock });
  readonly #endpoints: ChildProcess = fork(new URL('./hostile-endpoints.ts', import.meta.url));
  readonly #ports = new Map<string, PromiseWithResolvers<number>>();
  readonly #tenantSessions = new Http2Sessions({ clock: systemClock, random: Math.random });
  readonly #pool: TenantPool;
  readonly #manager: Manager;

  constructor(does: Hostility) {
    this.#does = does;
    const memory = new ObjectMemory();
    const [cluster, informers, clock] = [this.#cluster, this.#informers, systemClock];
    this.#pool = new TenantPool({ clock, memory, open: (connection, limits) => this.#tenant(connection, limits) });
    const stores = new StoreAccess({
      drivers: [new MemoryStore().driver],
      sessions: this.#sessions,
      read: () => Promise.resolve(undefined),
    });
    this.#manager = new Manager({
      ...{ cluster, informers, clock, log: silent, memory },
      events: new EventRecorder({ cluster, clock, log: silent, controller: 'bench', instance: 'bench', memory }),
      controllers: [
        tenantControlPlaneController({
          cluster,
          informers,
          clock,
          memory,
          stores,
          pool: this.#pool,
          enqueue: (key) => {
            this.#manager.enqueue('tenantcontrolplane', key);
          },
        }),
      ],
    });
    this.#endpoints.on('message', ({ name, port }: Opened) => {
      this.#portOf(name).resolve(port);
    });
  }

  async start(): Promise<void> {
    await this.#cluster.seed(dataStore, {
      ...{ apiVersion: 'steward.butlerlabs.dev/v1alpha1', kind: 'DataStore', metadata: { name: 'default' } },
      spec: { driver: 'etcd', endpoints: ['etcd:2379'] },
      status: { conditions: [verifiedIsolation] },
    });
    await seedManagementApi(this.#cluster, ['192.0.2.250']);
    this.#cluster.before(({ kind, verb }) => {
      const request = `${verb} ${kind?.kind ?? 'text'}`;
      this.requests.set(request, (this.requests.get(request) ?? 0) + 1);
      this.#asked += 1;
      // It records each call with its body; a minute of them is not what is measured.
      if (this.#asked % 10_000 === 0) this.#cluster.forgetPast();
    });
    this.#cluster.after(async ({ kind, verb, name = '' }) => {
      if (kind?.kind === 'Deployment' && verb === 'apply') await this.#startPods(name);
    });
    await this.#manager.start();
  }

  /** Makes tenants; resolves when the pods of all have been started. */
  async addHostile(count: number): Promise<void> {
    const names = Array.from({ length: count }, (_, n) => `hostile-${n}`);
    for (const name of names) await this.#create(name);
    await Promise.all(names.map((name) => this.#portOf(name).promise));
  }

  /**
   * Makes so many tenants whose API servers are well, at once, and when all are Ready as many more, for the given number of rounds: one
   * round alone differs from the next by half. How long each took to become Ready, in milliseconds.
   */
  async readyTimes(count: number, rounds: number): Promise<readonly number[]> {
    const times: number[] = [];
    for (let round = 0; round < rounds; round += 1) times.push(...(await this.#readyTimes(count, `innocent-${round}`)));
    return times;
  }

  async #readyTimes(count: number, prefix: string): Promise<readonly number[]> {
    const made = new Map<string, number>();
    const took = new Map<string, number>();
    const all = Promise.withResolvers<undefined>();
    const tooLate = setTimeout(() => {
      all.reject(new Error(`after ${longestMs / 60_000} minutes ${took.size} of ${count} tenants are Ready`));
    }, longestMs);
    const unsubscribe = this.#informers.informer({ kind: tenantControlPlane }).subscribe((_old, now) => {
      const name = now?.metadata.name ?? '';
      const since = made.get(name);
      if (now === undefined || since === undefined || !isReady(now) || took.has(name)) return;
      took.set(name, performance.now() - since);
      if (took.size === count) all.resolve(undefined);
    });
    for (let n = 0; n < count; n += 1) {
      made.set(`${prefix}-${n}`, performance.now());
      await this.#create(`${prefix}-${n}`);
    }
    try {
      await all.promise;
    } finally {
      clearTimeout(tooLate);
      unsubscribe();
    }
    return [...took.values()];
  }

  async stop(): Promise<void> {
    await this.#manager.stop(0);
    this.#endpoints.disconnect();
    await this.#pool.close();
    await this.#sessions[Symbol.asyncDispose]();
    await this.#informers.close();
  }

  async #create(name: string): Promise<void> {
    const { apiVersion, kind, spec } = tenantControlPlaneWith();
    await this.#cluster.seed(tenantControlPlane, { apiVersion, kind, metadata: { name, namespace }, spec });
  }

  #portOf(name: string): PromiseWithResolvers<number> {
    const known = this.#ports.get(name) ?? Promise.withResolvers<number>();
    this.#ports.set(name, known);
    return known;
  }

  #tenant(connection: Connection, limits: ClusterOptions): Cluster {
    const [name = ''] = new URL(connection.server).hostname.split('.');
    const port = this.#opened.get(name);
    if (!isHostile(name) || port === undefined) return new FakeCluster();
    return openCluster(
      { ...connection, dial: { host: '127.0.0.1', port } },
      { ...limits, sessions: this.#tenantSessions },
    );
  }

  readonly #opened = new Map<string, number>();

  /** Its endpoint first: a tenant that is not hostile yet would be served. */
  async #startPods(name: string): Promise<void> {
    const key = { namespace, name };
    if (isHostile(name) && !this.#opened.has(name)) this.#opened.set(name, await this.#open(name));
    const found = await this.#cluster.admin.get(kinds.Deployment, key);
    const count = found?.spec?.replicas ?? 0;
    const counts = { replicas: count, updatedReplicas: count, readyReplicas: count, availableReplicas: count };
    const body = { status: { observedGeneration: found?.metadata.generation, ...counts } };
    await this.#cluster.admin.patch(kinds.Deployment, key, { type: 'merge', body }, { subresource: 'status' });
  }

  async #open(name: string): Promise<number> {
    const secret = await this.#cluster.admin.get(kinds.Secret, { namespace, name: tenantObjects(name).apiServer });
    const text = (key: string): string => Buffer.from(secret?.data?.[key] ?? '', 'base64').toString('utf8');
    const { certificate, key } = dataKeys.apiServer;
    const wanted: Wanted = { name, does: this.#does, certificate: text(certificate), key: text(key) };
    this.#endpoints.send(wanted);
    return this.#portOf(name).promise;
  }
}

const isReady = ({ status }: TenantControlPlane): boolean => status?.kubernetesResources?.version?.status === 'Ready';
