import type { ManagementCluster } from '../../e2e/cluster/management-cluster.ts';
import type { Contender } from './contender.ts';
import { FloorContender } from './floor-contender.ts';
import { barePodsFloor, floorNamespaces, ownPodsFloor } from './floors.ts';
import { idleMachine } from '../footprint/idle.ts';
import type { Timeline } from './milestones.ts';
import { Observer } from './observer.ts';
import { dataStoreName } from '../steward-cluster.ts';
import { StewardContender } from './steward-contender.ts';
import { StoreClient } from './store-client.ts';

/** All measurements of one way to a control plane. */
export interface ReadySeries {
  readonly contender: string;
  /** The milestone that means ready for it. */
  readonly ready: Contender['ready'];
  readonly replicas: number;
  readonly timelines: readonly Timeline[];
}

/** How much is measured. */
export interface ReadyOptions {
  readonly pairs: number;
  readonly replicas: readonly number[];
}

/**
 * Measures how long Steward takes to a working control plane, and how long the same and bare pods take by hand: in turn, in
 * changing order, each time on an idle cluster.
 */
export async function measureReady(cluster: ManagementCluster, options: ReadyOptions): Promise<readonly ReadySeries[]> {
  const { progress } = cluster.harness;
  using observer = await Observer.start(cluster);
  const store = await StoreClient.open(cluster, dataStoreName);
  const steward = new StewardContender(cluster, observer, store);
  await createNamespaces(cluster, [steward.namespace, ...Object.values(floorNamespaces)]);
  const [first = 1] = options.replicas;
  progress('warming up', 'one control plane that does not count');
  await steward.clear();
  await steward.run(first);
  const { objects, user } = await steward.capture(floorNamespaces.own);
  await steward.clear();
  await store.grant(user, objects.prefix);
  try {
    const tools = { cluster, observer, store };
    const bare = await barePodsFloor(objects, cluster.machine.record.kubernetes);
    const floors = [ownPodsFloor(objects), bare].map((floor) => new FloorContender(floor, tools));
    for (const floor of floors) await floor.prepare();
    const series: ReadySeries[] = [];
    for (const replicas of options.replicas) {
      series.push(...(await measureRounds(cluster, [steward, ...floors], { pairs: options.pairs, replicas })));
    }
    return series;
  } finally {
    await store.revoke(user);
  }
}

async function measureRounds(
  { harness }: ManagementCluster,
  contenders: readonly Contender[],
  { pairs, replicas }: { readonly pairs: number; readonly replicas: number },
): Promise<readonly ReadySeries[]> {
  const timelines = new Map<Contender, Timeline[]>(contenders.map((contender) => [contender, []]));
  for (let round = 0; round < pairs; round += 1) {
    for (const contender of rotated(contenders, round)) {
      const busy = await idleMachine();
      const timeline = await contender.run(replicas);
      timelines.get(contender)?.push(timeline);
      const seconds = (ms = Number.NaN): string => `${(ms / 1000).toFixed(2)} s`;
      harness.progress(
        `${replicas} replica(s), round ${round + 1} of ${pairs}`,
        `${contender.name}: /readyz ${seconds(timeline['Service answers /readyz'])}, ready ${seconds(timeline[contender.ready])}` +
          `, ${Math.round(busy * 100)} % busy before`,
      );
      await contender.clear();
    }
  }
  return contenders.map((contender) => ({
    contender: contender.name,
    ready: contender.ready,
    replicas,
    timelines: timelines.get(contender) ?? [],
  }));
}

/** The order changes, so that leftover work of one contender affects all others equally. */
function rotated<T>(all: readonly T[], by: number): readonly T[] {
  const cut = by % all.length;
  return [...all.slice(cut), ...all.slice(0, cut)];
}

async function createNamespaces(cluster: ManagementCluster, names: readonly string[]): Promise<void> {
  await cluster.apply(names.map((name) => ({ apiVersion: 'v1', kind: 'Namespace', metadata: { name } })));
}
