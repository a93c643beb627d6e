import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { kinds } from '../../../../api/core/kinds.ts';
import type { Cluster } from '../../../../runtime/client/cluster.ts';
import { ApiError } from '../../../../runtime/client/errors.ts';
import { openCluster } from '../../../../runtime/client/http-cluster.ts';
import { parseKubeconfig } from '../../../../runtime/client/kubeconfig.ts';
import type { Session } from '../../../../stores/driver.ts';
import { etcdDriver } from '../../../../stores/etcd/driver.ts';
import { patient } from '../../../patient.ts';
import { startApiServer } from '../../../servers/api-server.ts';
import type { ApiServer } from '../../../servers/api-server.ts';
import { serverFolder } from '../../../servers/server-folder.ts';
import type { EtcdDataStore } from './data-store.ts';

const namespace = 'default';
const callsPerSecond = 50;
/** A machine that cannot do as much makes fewer calls. */
const mostAtOnce = 32;
/** Objects that are read and changed: one alone would have its writers wait for each other. */
const fixedObjects = 16;

/** What the clients of a tenant noticed. */
export interface Noticed {
  readonly calls: number;
  /** Calls that failed, with their kind. */
  readonly failures: readonly string[];
  /** Calls that failed because the leader changed meanwhile, and succeeded when they were repeated. */
  readonly repeated: readonly string[];
  readonly slowestMs: number;
  /** Objects that were created and never seen by the watch. */
  readonly unseen: readonly string[];
}

/**
 * A real kube-apiserver, with a tenancy of its own over all members of an etcd, whose clients create, read, change and list objects at a
 * steady rate, also while answers are slow, and follow them with a watch.
 */
export class LoadedTenant implements AsyncDisposable {
  readonly session: Session;
  readonly #server: ApiServer;
  readonly #cluster: Cluster;
  readonly #resources: AsyncDisposableStack;
  readonly #stop = new AbortController();
  readonly #closing = new AbortController();
  readonly #failures: string[] = [];
  readonly #repeated: string[] = [];
  readonly #created = new Set<string>();
  readonly #seen = new Set<string>();
  readonly #running = new Set<Promise<void>>();
  #calls = 0;
  #began = 0;
  #slowestMs = 0;
  #loop: Promise<void> = Promise.resolve();

  private constructor(server: ApiServer, session: Session, resources: AsyncDisposableStack) {
    this.#server = server;
    this.session = session;
    this.#resources = resources;
    this.#cluster = openCluster(parseKubeconfig(server.kubeconfig), {
      name: 'tenant',
      connections: mostAtOnce,
      timeoutMs: 60_000,
    });
    resources.defer(() => this.#cluster.close());
  }

  static async start(store: EtcdDataStore): Promise<LoadedTenant> {
    await using opened = new AsyncDisposableStack();
    const folder = opened.use(await serverFolder());
    const config = await etcdDriver.configure(store.dataStore, () => Promise.resolve(undefined));
    const session = opened.use(await etcdDriver.open(config, new AbortController().signal));
    const tenancy = { schema: 'tenant', user: 'tenant', owner: 'uid' };
    await session.ensure(tenancy);
    const tls = await etcdDriver.clientTls(config, tenancy, undefined, new Date());
    const write = async (name: string, text = ''): Promise<string> => {
      const path = join(folder.path, name);
      await writeFile(path, text, { mode: 0o600 });
      return path;
    };
    const binding = etcdDriver.bind(config, tenancy);
    const flags = {
      'etcd-servers': binding.kind === 'etcd' ? binding.endpoints.join() : '',
      'etcd-prefix': '/tenant',
      'etcd-compaction-interval': '0s',
      'etcd-cafile': await write('ca.crt', tls?.ca),
      'etcd-certfile': await write('tls.crt', tls?.certificate),
      'etcd-keyfile': await write('tls.key', tls?.key),
    };
    const server = opened.use(await startApiServer({ flags }));
    const tenant = new LoadedTenant(server, session, opened.move());
    await tenant.#begin();
    return tenant;
  }

  /** Ends the load and says what its clients noticed. */
  async stop(): Promise<Noticed> {
    this.#stop.abort();
    await this.#loop;
    await Promise.all(this.#running);
    const end = performance.now() + patient(20_000);
    const unseen = (): readonly string[] => [...this.#created].filter((name) => !this.#seen.has(name));
    while (unseen().length > 0 && performance.now() < end) await delay(50);
    const [failures, repeated] = [this.#failures, this.#repeated];
    return { calls: this.#calls, failures, repeated, slowestMs: Math.round(this.#slowestMs), unseen: unseen() };
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#stop.abort();
    this.#closing.abort();
    await this.#loop;
    await this.#server.kill();
    await Promise.all(this.#running);
    await this.#resources.disposeAsync();
  }

  async #begin(): Promise<void> {
    for (let index = 0; index < fixedObjects; index += 1) {
      await this.#cluster.create(kinds.ConfigMap, manifest(`fixed-${index}`));
    }
    const synced = Promise.withResolvers<boolean>();
    void this.#watch(() => {
      synced.resolve(true);
    }).catch(synced.reject);
    await synced.promise;
    this.#loop = this.#ticks();
  }

  async #ticks(): Promise<void> {
    const start = performance.now();
    this.#began = start;
    for (let index = 0; !this.#stop.signal.aborted; index += 1) {
      if (this.#running.size < mostAtOnce) {
        const running = this.#call(index).finally(() => this.#running.delete(running));
        this.#running.add(running);
      }
      await delay(Math.max(start + ((index + 1) * 1000) / callsPerSecond - performance.now(), 0));
    }
  }

  async #call(index: number): Promise<void> {
    const fixed = { namespace, name: `fixed-${index % fixedObjects}` };
    const calls = {
      create: async () => {
        const name = `made-${index}`;
        await this.#cluster.create(kinds.ConfigMap, manifest(name));
        this.#created.add(name);
      },
      get: () => this.#cluster.get(kinds.ConfigMap, fixed),
      patch: () =>
        this.#cluster.patch(kinds.ConfigMap, fixed, { type: 'merge', body: { data: { index: String(index) } } }),
      list: () => this.#cluster.list(kinds.ConfigMap, { namespace, page: { limit: 10 } }),
    };
    const names = ['create', 'get', 'patch', 'list'] as const;
    const name = names[index % names.length] ?? 'get';
    const start = performance.now();
    this.#calls += 1;
    try {
      await this.#repeating(name, calls[name]);
    } catch (error) {
      const [at, ms] = [start - this.#began, performance.now() - start].map(Math.round);
      this.#failures.push(`${name} after ${at} ms, for ${ms} ms: ${String(error)}`);
    }
    this.#slowestMs = Math.max(this.#slowestMs, performance.now() - start);
  }

  async #repeating(name: string, call: () => Promise<unknown>): Promise<void> {
    try {
      await call();
    } catch (error) {
      if (!lostWithLeader.test(String(error))) throw error;
      this.#repeated.push(`${name}: ${String(error)}`);
      try {
        await call();
      } catch (again) {
        // It was done although nobody was told so.
        if (!(again instanceof ApiError && again.code === 409)) throw again;
      }
    }
  }

  async #watch(synced: () => void): Promise<void> {
    const { resourceVersion } = await this.#cluster.list(kinds.ConfigMap, { namespace });
    synced();
    const watch = this.#cluster.watch(kinds.ConfigMap, { namespace, resourceVersion, signal: this.#closing.signal });
    try {
      for await (const event of watch) if (event.type === 'ADDED') this.#seen.add(event.object.metadata.name);
    } catch (error) {
      if (!this.#closing.signal.aborted) this.#failures.push(`watch: ${String(error)}`);
    }
  }
}

/** What etcd says of a write that was under way when another member became the leader. */
const lostWithLeader = /etcdserver: request timed out|raft proposal dropped|leader changed/;

const manifest = (name: string) => ({
  apiVersion: 'v1',
  kind: 'ConfigMap',
  metadata: { name, namespace },
  data: { a: 'x'.repeat(1000) },
});
