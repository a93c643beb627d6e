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
  /** How busy the processors were before each of them, 0 to 1. */
  readonly busyBefore: readonly number[];
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
  return withContenders(cluster, options, async (contenders) => {
    const series: ReadySeries[] = [];
    for (const replicas of options.replicas) {
      series.push(...(await measureRounds(cluster, contenders, { pairs: options.pairs, replicas })));
    }
    return series;
  });
}

/**
 * Prepares Steward and both floors, in this order, for a measurement.
 * @param options the first replica count is that of the control plane which does not count.
 */
export async function withContenders<Measured>(
  cluster: ManagementCluster,
  options: Pick<ReadyOptions, 'replicas'>,
  measure: (contenders: readonly Contender[]) => Promise<Measured>,
): Promise<Measured> {
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
    return await measure([steward, ...floors]);
  } finally {
    await store.revoke(user);
  }
}

/** Measures each contender so many times, in turn and in changing order. */
export async function measureRounds(
  { harness }: ManagementCluster,
  contenders: readonly Contender[],
  { pairs, replicas }: { readonly pairs: number; readonly replicas: number },
): Promise<readonly ReadySeries[]> {
  const timelines = new Map<Contender, Timeline[]>(contenders.map((contender) => [contender, []]));
  const busyBefore = new Map<Contender, number[]>(contenders.map((contender) => [contender, []]));
  for (let round = 0; round < pairs; round += 1) {
    for (const contender of rotated(contenders, round)) {
      const busy = await idleMachine();
      const timeline = await contender.run(replicas);
      timelines.get(contender)?.push(timeline);
      busyBefore.get(contender)?.push(busy);
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
    busyBefore: busyBefore.get(contender) ?? [],
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
