import { randomBytes } from 'node:crypto';

import type { KubernetesClient, ObjectAddress, PlainObject } from '../cluster/kubernetes-client.ts';
import { infrastructureVersion } from './kinds.ts';
import { addressOf, isProvisioned, metadataOf } from './plain-metadata.ts';
import { planPool } from './plan-pool.ts';

const capiVersion = 'cluster.x-k8s.io/v1beta2';
const finalizer = 'netnsmachinepool.infrastructure.cluster.x-k8s.io';
const clusterLabel = 'cluster.x-k8s.io/cluster-name';
const poolLabel = 'cluster.x-k8s.io/pool-name';

/** What a machine joins with. */
export interface Bootstrap {
  readonly dataSecretName?: string;
  readonly version?: string;
}

interface PoolSpec {
  readonly replicas?: number;
  readonly template?: {
    readonly spec?: { readonly version?: string; readonly bootstrap?: { readonly dataSecretName?: string } };
  };
}

/**
 * Keeps NetnsMachinePools at their MachinePools' replicas, by NetnsMachines that it makes and whose Machines it deletes:
 * core Cluster API makes a Machine for each, and drains its node before it goes (Cluster API book: contract rules for
 * InfraMachinePool, MachinePool Machines).
 */
export class MachinePools {
  readonly #client: KubernetesClient;
  readonly #onStep: (pool: string, step: string) => void;

  constructor(client: KubernetesClient, onStep: (pool: string, step: string) => void) {
    this.#client = client;
    this.#onStep = onStep;
  }

  /** Checks all pools once. */
  async reconcile(): Promise<void> {
    for (const pool of await this.#client.list(infrastructureVersion, 'NetnsMachinePool')) await this.#reconcile(pool);
  }

  /** What a machine of a pool joins with; undefined for a machine of no pool. */
  async bootstrapOf(machine: PlainObject): Promise<Bootstrap | undefined> {
    const { namespace = '', ownerReferences = [] } = metadataOf(machine);
    const owner = ownerReferences.find(({ kind }) => kind === 'NetnsMachinePool');
    if (owner === undefined) return undefined;
    const address = { apiVersion: infrastructureVersion, kind: 'NetnsMachinePool', namespace, name: owner.name };
    const pool = await this.#client.read(address);
    const { template } = (pool === undefined ? undefined : await this.#specOf(pool)) ?? {};
    const { dataSecretName } = template?.spec?.bootstrap ?? {};
    const { version } = (machine.spec ?? {}) as { readonly version?: string };
    return { dataSecretName, version };
  }

  async #reconcile(pool: PlainObject): Promise<void> {
    const metadata = metadataOf(pool);
    const machines = await this.#machinesOf(pool);
    if (metadata.deletionTimestamp !== undefined) {
      const names = machines.filter((one) => metadataOf(one).deletionTimestamp === undefined).map(nameOf);
      await this.#remove(pool, names);
      const finalizers = metadata.finalizers ?? [];
      if (machines.length > 0 || !finalizers.includes(finalizer)) return;
      await this.#client.merge(addressOf(pool), {
        metadata: { finalizers: finalizers.filter((one) => one !== finalizer) },
      });
      return;
    }
    const spec = await this.#specOf(pool);
    const { version, bootstrap } = spec?.template?.spec ?? {};
    if (version === undefined || bootstrap?.dataSecretName === undefined) return;
    if (metadata.finalizers?.includes(finalizer) !== true) {
      const finalizers = [...(metadata.finalizers ?? []), finalizer];
      await this.#client.merge(addressOf(pool), { metadata: { finalizers } });
    }
    const plan = planPool(
      spec?.replicas ?? 1,
      version,
      machines.map((one) => ({
        name: nameOf(one),
        version: (one.spec as { readonly version?: string } | undefined)?.version ?? '',
        provisioned: isProvisioned(one),
        deleting: metadataOf(one).deletionTimestamp !== undefined,
      })),
    );
    for (let made = 0; made < plan.create; made += 1) await this.#create(pool, version);
    await this.#remove(pool, plan.remove);
    await this.#report(pool, machines);
  }

  async #create(pool: PlainObject, version: string): Promise<void> {
    const { name = '', namespace = '', uid = '', labels = {} } = metadataOf(pool);
    const machine = `${name}-${randomBytes(3).toString('hex')}`;
    await this.#client.apply([
      {
        apiVersion: infrastructureVersion,
        kind: 'NetnsMachine',
        metadata: {
          name: machine,
          namespace,
          labels: { [clusterLabel]: labels[clusterLabel] ?? '', [poolLabel]: ownerOf(pool)?.name ?? '' },
          ownerReferences: [{ apiVersion: infrastructureVersion, kind: 'NetnsMachinePool', name, uid }],
        },
        spec: { version },
      },
    ]);
    this.#onStep(name, `makes ${machine}, ${version}`);
  }

  /** Core drains a Machine that is deleted, and deletes its NetnsMachine then; what has no Machine yet goes at once. */
  async #remove(pool: PlainObject, names: readonly string[]): Promise<void> {
    const { name: own = '', namespace = '' } = metadataOf(pool);
    for (const name of names) {
      const address: ObjectAddress = { apiVersion: capiVersion, kind: 'Machine', namespace, name };
      const machine = await this.#client.read(address);
      if (machine?.metadata?.deletionTimestamp !== undefined) continue;
      if (machine !== undefined) await this.#client.delete(address);
      else await this.#client.delete({ ...address, apiVersion: infrastructureVersion, kind: 'NetnsMachine' });
      this.#onStep(own, `lets ${name} go`);
    }
  }

  async #report(pool: PlainObject, machines: readonly PlainObject[]): Promise<void> {
    const ready = machines.filter((one) => isProvisioned(one) && metadataOf(one).deletionTimestamp === undefined);
    const providerIDList = ready.map((one) => String(one.spec?.providerID)).toSorted();
    const provisioned = ready.length > 0 || isProvisioned(pool);
    const status = {
      ready: provisioned,
      initialization: { provisioned },
      replicas: ready.length,
      infrastructureMachineKind: 'NetnsMachine',
    };
    const told = JSON.stringify([pool.spec?.providerIDList ?? [], pool.status?.replicas, isProvisioned(pool)]);
    if (told === JSON.stringify([providerIDList, ready.length, provisioned])) return;
    await this.#client.merge(addressOf(pool), { spec: { providerIDList }, status });
  }

  async #machinesOf(pool: PlainObject): Promise<readonly PlainObject[]> {
    const { name = '', namespace = '' } = metadataOf(pool);
    const machines = await this.#client.list(infrastructureVersion, 'NetnsMachine', namespace);
    const isOwned = (one: PlainObject): boolean =>
      metadataOf(one).ownerReferences?.some((owner) => owner.kind === 'NetnsMachinePool' && owner.name === name) ??
      false;
    return machines.filter(isOwned);
  }

  async #specOf(pool: PlainObject): Promise<PoolSpec | undefined> {
    const owner = ownerOf(pool);
    if (owner === undefined) return undefined;
    const { namespace = '' } = metadataOf(pool);
    const address = { apiVersion: capiVersion, kind: 'MachinePool', namespace, name: owner.name };
    return (await this.#client.read(address))?.spec;
  }
}

function ownerOf(pool: PlainObject): { readonly name: string } | undefined {
  return metadataOf(pool).ownerReferences?.find(({ kind }) => kind === 'MachinePool');
}

function nameOf(object: PlainObject): string {
  return metadataOf(object).name ?? '';
}
