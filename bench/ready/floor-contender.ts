import type { SecureContext } from 'node:tls';

import type { PlainObject } from '../../e2e/cluster/kubernetes-client.ts';
import type { ManagementCluster } from '../../e2e/cluster/management-cluster.ts';
import { createObjects, endPods } from './contender.ts';
import type { Contender } from './contender.ts';
import { measureCreation } from './measure-creation.ts';
import type { Timeline } from './milestones.ts';
import type { Observer } from './observer.ts';
import type { StoreClient } from './store-client.ts';
import { tenantPort } from './tenant.ts';

/** A control plane of which everything but its Service and its pods is there already. */
export interface Floor {
  readonly name: string;
  readonly namespace: string;
  readonly secrets: readonly PlainObject[];
  readonly service: PlainObject;
  readonly deployment: PlainObject;
  /** Where it keeps its keys in etcd. */
  readonly prefix: string;
  /** The super-admin's. */
  readonly credentials: SecureContext;
}

/** Pods by hand: what no operator can be quicker than. */
export class FloorContender implements Contender {
  readonly ready = 'a replica ready';
  readonly #cluster: ManagementCluster;
  readonly #observer: Observer;
  readonly #store: StoreClient;
  readonly #floor: Floor;

  constructor(floor: Floor, { cluster, observer, store }: FloorTools) {
    this.#floor = floor;
    this.#cluster = cluster;
    this.#observer = observer;
    this.#store = store;
  }

  get name(): string {
    return this.#floor.name;
  }

  /** Puts the Secrets there. */
  async prepare(): Promise<void> {
    await this.#cluster.apply(this.#floor.secrets);
  }

  async run(replicas: number): Promise<Timeline> {
    const { name, namespace, service, deployment, credentials } = this.#floor;
    const scaled = { ...deployment, spec: { ...deployment.spec, replicas } };
    return measureCreation(
      this.#observer,
      {
        name,
        namespace,
        port: tenantPort,
        credentials,
        until: ['Service answers /readyz', 'all replicas ready'],
        create: () => createObjects(this.#cluster, [service, scaled]),
      },
      { timeoutMs: 300_000, diagnose: () => this.#cluster.diagnose(namespace) },
    );
  }

  async clear(): Promise<void> {
    const { namespace, service, deployment, prefix } = this.#floor;
    for (const { apiVersion = '', kind = '', metadata } of [deployment, service]) {
      await this.#cluster.client.delete({ apiVersion, kind, namespace, name: metadata?.name ?? '' });
    }
    await endPods(this.#cluster, namespace);
    await this.#store.empty(prefix);
  }
}

/** What measuring a floor needs. */
export interface FloorTools {
  readonly cluster: ManagementCluster;
  readonly observer: Observer;
  readonly store: StoreClient;
}
