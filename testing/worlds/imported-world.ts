import type { kamajiControlPlane } from '../builders/kamaji-control-plane.ts';
import { FakeCluster } from '../fake/fake-cluster.ts';
import type { Call } from '../fake/fake-faults.ts';
import { SkippingClock } from '../fake/skipping-clock.ts';
import { KamajiPlane } from './kamaji-plane.ts';

/** A control plane of Kamaji in a cluster in memory. After each write of the plugin it is looked at whether anybody would notice it. */
export class ImportedWorld {
  readonly cluster = new FakeCluster();
  readonly clock = new SkippingClock();
  readonly plane = new KamajiPlane(this.cluster.admin);
  /** Calls after which the Service led to no pod. */
  readonly outages: Call[] = [];
  /** Calls after which data or CA would have been lost, or two managers had written the same objects. */
  readonly dangers: Call[] = [];

  static async create(changes: Parameters<typeof kamajiControlPlane>[0] = {}): Promise<ImportedWorld> {
    const world = new ImportedWorld();
    const { cluster, plane } = world;
    await plane.seed(changes);
    await plane.act();
    cluster.after(async (call) => {
      if (!['create', 'apply', 'patch', 'delete'].includes(call.verb)) return;
      await plane.act();
      if ((await plane.reached()).length === 0) world.outages.push(call);
      if (await plane.isInDanger()) world.dangers.push(call);
    });
    return world;
  }

  /** The names of the ready pods to which the Service leads. */
  reached(): Promise<readonly string[]> {
    return this.plane.reached();
  }
}
