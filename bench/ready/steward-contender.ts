import { setTimeout as pause } from 'node:timers/promises';

import type { PlainObject } from '../../e2e/cluster/kubernetes-client.ts';
import type { ManagementCluster } from '../../e2e/cluster/management-cluster.ts';
import { captureTenant, flagOf } from './captured-tenant.ts';
import type { CapturedTenant } from './captured-tenant.ts';
import { createObjects, endPods } from './contender.ts';
import type { Contender } from './contender.ts';
import { measureCreation } from './measure-creation.ts';
import type { Timeline } from './milestones.ts';
import type { Observer } from './observer.ts';
import type { StoreClient } from './store-client.ts';
import { tenant, tenantApiVersion, tenantPort } from './tenant.ts';

const name = 'tenant';
const namespace = 'bench-steward';

interface TenantStatus {
  readonly storage?: { readonly setup?: { readonly user?: string } };
}

/** What the floors are made of. */
export interface Template {
  readonly objects: CapturedTenant;
  /** The tenant's user of etcd: the common name of its client certificate. */
  readonly user: string;
}

/** Steward: a TenantControlPlane is created, and everything else is its work. */
export class StewardContender implements Contender {
  readonly name = 'Steward';
  readonly ready = 'status Ready';
  readonly namespace = namespace;
  readonly #cluster: ManagementCluster;
  readonly #observer: Observer;
  readonly #store: StoreClient;

  constructor(cluster: ManagementCluster, observer: Observer, store: StoreClient) {
    this.#cluster = cluster;
    this.#observer = observer;
    this.#store = store;
  }

  async run(replicas: number): Promise<Timeline> {
    const version = this.#cluster.machine.record.kubernetes;
    const object = tenant({ name, namespace, replicas, version });
    return measureCreation(
      this.#observer,
      {
        name,
        namespace,
        port: tenantPort,
        credentials: undefined,
        until: ['Service answers /readyz', 'status Ready', 'add-ons enabled'],
        create: () => createObjects(this.#cluster, [object]),
      },
      { timeoutMs: 300_000, diagnose: () => this.#diagnose() },
    );
  }

  /** What Steward has made of the control plane that runs now, to be made again in another namespace. */
  async capture(into: string): Promise<Template> {
    const { client } = this.#cluster;
    const kinds = [
      ['v1', 'Secret'],
      ['v1', 'Service'],
      ['apps/v1', 'Deployment'],
    ] as const;
    const objects = await Promise.all(kinds.map(([apiVersion, kind]) => client.list(apiVersion, kind, namespace)));
    const { storage } = ((await this.#read())?.status ?? {}) as TenantStatus;
    const user = storage?.setup?.user;
    if (user === undefined) throw new Error('The TenantControlPlane has no status.storage.setup.user.');
    return { objects: captureTenant(objects.flat(), into), user };
  }

  async clear(): Promise<void> {
    const { client } = this.#cluster;
    const deployments = await client.list('apps/v1', 'Deployment', namespace);
    await client.delete({ apiVersion: tenantApiVersion, kind: 'TenantControlPlane', name, namespace });
    await this.#cluster.waitFor(
      { apiVersion: tenantApiVersion, kind: 'TenantControlPlane', name, namespace },
      (object) => object === undefined,
      { timeoutMs: 300_000, what: 'being gone', diagnose: () => this.#diagnose() },
    );
    await endPods(this.#cluster, namespace);
    await this.#collected();
    for (const deployment of deployments) {
      const prefix = flagOf(deployment, 'etcd-prefix');
      if (prefix === undefined) continue;
      const left = await this.#store.countKeys(prefix);
      if (left > 0) throw new Error(`A deleted tenant left ${left} keys below ${prefix} in etcd.`);
    }
  }

  /**
   * Waits for the garbage collector. It removes Secrets and Services after their owner: the next tenant of the name would
   * be measured waiting for them, and with the address and the CA of this one.
   */
  async #collected(): Promise<void> {
    const { client } = this.#cluster;
    const deadline = performance.now() + 60_000;
    for (;;) {
      const lists = await Promise.all(['Secret', 'Service'].map((kind) => client.list('v1', kind, namespace)));
      const left = lists.flat().map(({ kind, metadata }) => `${String(kind)} ${String(metadata?.name)}`);
      if (left.length === 0) return;
      if (performance.now() > deadline) throw new Error(`A deleted tenant left ${left.join(', ')} in ${namespace}.`);
      await pause(200);
    }
  }

  #read(): Promise<PlainObject | undefined> {
    return this.#cluster.client.read({ apiVersion: tenantApiVersion, kind: 'TenantControlPlane', name, namespace });
  }

  async #diagnose(): Promise<string> {
    const [pods, object] = await Promise.all([this.#cluster.diagnose(namespace), this.#read()]);
    return `${JSON.stringify(object?.status?.conditions ?? [])}\n${pods}`;
  }
}
