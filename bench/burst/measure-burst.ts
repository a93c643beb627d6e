import type { ManagementCluster } from '../../e2e/cluster/management-cluster.ts';
import { tenantsThatFit } from '../fitting-tenants.ts';
import { idleMachine } from '../footprint/idle.ts';
import { createObjects } from '../ready/contender.ts';
import { Observer } from '../ready/observer.ts';
import { StoreClient } from '../ready/store-client.ts';
import { tenant } from '../ready/tenant.ts';
import { dataStoreName } from '../steward-cluster.ts';
import type { BurstRow } from './burst-report.ts';
import { captureTenants } from './captured-tenants.ts';
import type { CapturedWithUser } from './captured-tenants.ts';
import { deletedAtOnce } from './deleted-at-once.ts';
import { firstReached } from './first-reached.ts';

const namespaces = { steward: 'bench-burst', hand: 'bench-burst-by-hand' } as const;

/** How much is measured. */
export interface BurstOptions {
  /** Numbers of tenants at once, one after the other. Of each, as many as fit are created. */
  readonly sizes: readonly number[];
  /** Of each size. */
  readonly rounds: number;
}

/**
 * Creates many control planes at once and deletes them at once, in turn with the same pods by hand, each time on an idle
 * machine.
 */
export async function measureBurst(
  cluster: ManagementCluster,
  { sizes, rounds }: BurstOptions,
): Promise<readonly BurstRow[]> {
  const { progress } = cluster.harness;
  using observer = await Observer.start(cluster);
  const store = await StoreClient.open(cluster, dataStoreName);
  const burst = new Burst(cluster, observer, store);
  await cluster.apply(
    Object.values(namespaces).map((name) => ({ apiVersion: 'v1', kind: 'Namespace', metadata: { name } })),
  );
  progress('warming up', 'one control plane that does not count');
  await burst.ofSteward(1, 'warm-up');
  const rows: BurstRow[] = [];
  for (const size of sizes) {
    const tenants = await tenantsThatFit(size, progress);
    let captured: readonly CapturedWithUser[] = [];
    try {
      for (let round = 1; round <= rounds; round += 1) {
        const ours = await burst.ofSteward(tenants, `burst-${tenants}-${round}`);
        if (captured.length === 0) captured = await burst.prepareByHand(ours.captured);
        const both = [ours.row, await burst.byHand(captured)].map((row) => ({ ...row, round }));
        for (const row of both) progress(`burst of ${tenants}, round ${round}`, told(row));
        rows.push(...both);
      }
    } finally {
      for (const { user } of captured) await store.revoke(user);
    }
  }
  return rows;
}

function told({ contender, readyMs, goneMs, podsGoneMs }: BurstRow): string {
  const times = [readyMs[0] ?? 0, readyMs.at(-1) ?? 0, goneMs, podsGoneMs].map((ms) => (ms / 1000).toFixed(1));
  return `${contender}: first, last, gone, pods gone: ${times.join(', ')} s`;
}

type Measured = Omit<BurstRow, 'round'>;

class Burst {
  readonly #cluster: ManagementCluster;
  readonly #observer: Observer;
  readonly #store: StoreClient;

  constructor(cluster: ManagementCluster, observer: Observer, store: StoreClient) {
    this.#cluster = cluster;
    this.#observer = observer;
    this.#store = store;
  }

  /** Creates tenants, captures them, and deletes them. */
  async ofSteward(
    tenants: number,
    prefix: string,
  ): Promise<{ readonly row: Measured; readonly captured: readonly CapturedWithUser[] }> {
    const namespace = namespaces.steward;
    const version = this.#cluster.machine.record.kubernetes;
    // Other names each time: the garbage collector may still remove Secrets of the last ones.
    const names = Array.from({ length: tenants }, (_, index) => `${prefix}-${index}`);
    const before = await this.#store.accounts();
    await idleMachine();
    const readyMs = await this.#reached(
      { namespace, kind: 'TenantControlPlane', names, milestone: 'status Ready' },
      names.map((name) => [tenant({ name, namespace, replicas: 1, version })]),
    );
    const captured = await captureTenants(this.#cluster, { namespace, into: namespaces.hand });
    await idleMachine();
    const deletion = await this.#deleted(namespace, 'tenantcontrolplanes.steward.butlerlabs.dev', tenants);
    let keys = 0;
    for (const { objects } of captured) keys += await this.#store.countKeys(objects.prefix);
    const after = await this.#store.accounts();
    const added = (kind: 'users' | 'roles'): number =>
      after[kind].filter((name) => !before[kind].includes(name)).length;
    const left = { keys, users: added('users'), roles: added('roles') };
    return { row: { contender: 'Steward', tenants, readyMs, ...deletion, left }, captured };
  }

  /** Puts everything there that pods by hand need. */
  async prepareByHand(captured: readonly CapturedWithUser[]): Promise<readonly CapturedWithUser[]> {
    this.#cluster.harness.progress('by hand', 'Secrets and users of etcd');
    for (const { objects, user } of captured) {
      await this.#cluster.apply(objects.secrets);
      await this.#store.grant(user, objects.prefix);
    }
    return captured;
  }

  /** Creates the captured Services and Deployments, and deletes them. */
  async byHand(captured: readonly CapturedWithUser[]): Promise<Measured> {
    const namespace = namespaces.hand;
    const names = captured.map(({ name }) => name);
    await idleMachine();
    const readyMs = await this.#reached(
      { namespace, kind: 'Deployment', names, milestone: 'a replica ready' },
      captured.map(({ objects }) => [objects.service, objects.deployment]),
    );
    await idleMachine();
    const deletion = await this.#deleted(namespace, 'deployments.apps,services', names.length);
    for (const { objects } of captured) await this.#store.empty(objects.prefix);
    return { contender: 'own pods by hand', tenants: names.length, readyMs, ...deletion };
  }

  #reached(
    awaited: Parameters<typeof firstReached>[1],
    objects: readonly Parameters<typeof createObjects>[1][],
  ): Promise<readonly number[]> {
    return firstReached(this.#observer, awaited, {
      create: () => Promise.all(objects.map((each) => createObjects(this.#cluster, each))),
      timeoutMs: patience(objects.length),
      diagnose: () => this.#cluster.diagnose(awaited.namespace),
    });
  }

  #deleted(namespace: string, kinds: string, tenants: number): ReturnType<typeof deletedAtOnce> {
    return deletedAtOnce(this.#cluster, { namespace, kinds, timeoutMs: patience(tenants) });
  }
}

/** Ends what hangs, and is no measure of speed; milliseconds. */
const patience = (tenants: number): number => 120_000 + 20_000 * tenants;
