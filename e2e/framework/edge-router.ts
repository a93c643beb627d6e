import type { PlainObject } from '../cluster/kubernetes-client.ts';
import type { ManagementCluster } from '../cluster/management-cluster.ts';
import { startSniRouter } from '../cluster/network/sni-router.ts';
import type { Place, SniRouter } from '../cluster/network/sni-router.ts';
import { watchObjects } from '../cluster/watch-objects.ts';
import type { Change } from '../cluster/watch-objects.ts';
import { routeRules } from './route-rules.ts';

/** The collections that the router serves: Ingresses, those of Gateway API and those of Traefik. */
const collections = [
  ['Ingress', 'networking.k8s.io/v1', 'ingresses'],
  ['TLSRoute', 'gateway.networking.k8s.io/v1', 'tlsroutes'],
  ['IngressRouteTCP', 'traefik.io/v1alpha1', 'ingressroutetcps'],
] as const;

interface ParentRef {
  readonly name: string;
  readonly sectionName?: string;
  readonly port?: number;
}

/**
 * What stands before a cluster and tells tenants apart by the name that a client asks for: a controller for Ingresses,
 * TLSRoutes and Traefik's routes in one, which hands TLS connections through to Services.
 */
export class EdgeRouter implements AsyncDisposable {
  readonly address: string;
  readonly #cluster: ManagementCluster;
  readonly #clients: readonly SniRouter[];
  readonly #ending = new AbortController();
  readonly #objects = new Map<string, PlainObject>();
  readonly #watching: Promise<unknown>;
  #places: ReadonlyMap<string, Place> = new Map();
  #held: Promise<void> | undefined;
  /** Looks that were begun, and the last one that counted. */
  #begun = 0;
  #done = 0;

  private constructor(cluster: ManagementCluster, address: string, clients: readonly SniRouter[]) {
    this.#cluster = cluster;
    this.address = address;
    this.#clients = clients;
    const signal = AbortSignal.any([this.#ending.signal, cluster.harness.signal]);
    const onError = (error: unknown): void => {
      cluster.harness.progress('edge router', String(error));
    };
    this.#watching = Promise.all(
      collections.map(([kind, apiVersion, plural]) =>
        watchObjects(cluster.client.config, `/apis/${apiVersion}/${plural}`, (change) => this.#see(kind, change), {
          signal,
          onError,
        }),
      ),
    );
  }

  /** Listens on an address of the host at these ports. */
  static async start(cluster: ManagementCluster, address: string, ports: readonly number[]): Promise<EdgeRouter> {
    return new EdgeRouter(
      cluster,
      address,
      await Promise.all(ports.map((port) => startSniRouter({ host: address, port }))),
    );
  }

  /** Names that lead somewhere now. */
  get names(): readonly string[] {
    return [...this.#places.keys()].toSorted();
  }

  /** Serves and accepts nothing new until what is returned is called. */
  hold(): () => void {
    const { promise, resolve } = Promise.withResolvers<undefined>();
    this.#held = promise;
    return () => {
      this.#held = undefined;
      resolve(undefined);
    };
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#ending.abort();
    await this.#watching;
    for (const access of this.#clients) await access[Symbol.asyncDispose]();
  }

  async #see(kind: string, { type, object }: Change): Promise<void> {
    const key = `${kind} ${object.metadata?.namespace ?? ''}/${object.metadata?.name ?? ''}`;
    if (type === 'DELETED') this.#objects.delete(key);
    else {
      await this.#held;
      this.#objects.set(key, { ...object, kind });
    }
    await this.#locate();
    if (type !== 'DELETED' && this.#objects.has(key)) await this.#accept(kind, object);
  }

  async #locate(): Promise<void> {
    const turn = ++this.#begun;
    const places = new Map<string, Place>();
    for (const object of this.#objects.values()) {
      for (const { host, service, port } of routeRules(object)) {
        const found = await this.#cluster.client.read({
          apiVersion: 'v1',
          kind: 'Service',
          namespace: object.metadata?.namespace ?? '',
          name: service,
        });
        const clusterIp = found?.spec?.clusterIP;
        if (typeof clusterIp === 'string') places.set(host, { host: clusterIp, port });
      }
    }
    // Three watches report changes side by side: an older look may be reported later.
    if (turn < this.#done) return;
    this.#done = turn;
    this.#places = places;
    for (const access of this.#clients) access.route(places);
  }

  /** Says what controllers of the kind say in its status; Traefik says nothing. */
  async #accept(kind: string, { metadata, spec, status, apiVersion = '' }: PlainObject): Promise<void> {
    const wanted = this.#statusOf(kind, metadata?.generation, spec);
    if (wanted === undefined || isSaid(status, wanted)) return;
    const address = { apiVersion, kind, namespace: metadata?.namespace ?? '', name: metadata?.name ?? '' };
    await this.#cluster.client.merge(address, { status: wanted }, 'status');
  }

  #statusOf(kind: string, generation = 0, spec: Record<string, unknown> = {}): Record<string, unknown> | undefined {
    if (kind === 'Ingress') return { loadBalancer: { ingress: [{ ip: this.address }] } };
    if (kind !== 'TLSRoute') return undefined;
    const conditions = ['Accepted', 'ResolvedRefs'].map((type) => ({
      type,
      status: 'True',
      reason: type,
      message: '',
      observedGeneration: generation,
      lastTransitionTime: '2026-01-01T00:00:00Z',
    }));
    return {
      parents: ((spec.parentRefs ?? []) as readonly ParentRef[]).map((parentRef) => ({
        parentRef,
        controllerName: 'example.com/edge',
        conditions,
      })),
    };
  }
}

/** Whether a status holds all that is to be said; the API server may have added defaults. */
function isSaid(status: unknown, wanted: unknown): boolean {
  if (Array.isArray(wanted)) {
    return Array.isArray(status) && wanted.every((each, index) => isSaid(status[index], each));
  }
  if (typeof wanted !== 'object' || wanted === null) return status === wanted;
  return (
    typeof status === 'object' &&
    status !== null &&
    Object.entries(wanted).every(([field, value]) => isSaid((status as Record<string, unknown>)[field], value))
  );
}
