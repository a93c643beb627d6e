import type { PlainObject } from '../../e2e/cluster/kubernetes-client.ts';
import type { ManagementCluster } from '../../e2e/cluster/management-cluster.ts';
import { podMemory } from '../../e2e/framework/pod-memory.ts';
import { activatorDeployment, activatorSelector } from '../../e2e/framework/waking/install-activator.ts';
import { metricSamples } from '../footprint/metric-samples.ts';
import { processesOf, usageOf } from '../instant/pods-usage.ts';
import type { ActivatorMemory, PodMemory } from './wake-rows.ts';

interface ActivatorPod {
  readonly name: string;
  readonly uid: string;
  readonly address: string;
}

/** What all activators together say of their connections. */
export interface ActivatorCounts {
  /** Since their start, by what became of them. */
  readonly outcomes: Readonly<Record<string, number>>;
  /** Connections that are open now. */
  readonly open: number;
}

/** The pods of the activator, seen from outside. */
export class ActivatorPods {
  readonly #cluster: ManagementCluster;
  readonly #pods: readonly ActivatorPod[];

  private constructor(cluster: ManagementCluster, pods: readonly ActivatorPod[]) {
    this.#cluster = cluster;
    this.#pods = pods;
  }

  static async find(cluster: ManagementCluster): Promise<ActivatorPods> {
    const found = await listPods(cluster);
    const pods = found.map(({ metadata, status }) => ({
      name: metadata?.name ?? '',
      uid: metadata?.uid ?? '',
      address: String(status?.podIP),
    }));
    if (pods.length === 0) throw new Error('The activator has no pods.');
    return new ActivatorPods(cluster, pods);
  }

  /** What each of them holds. */
  async memory(): Promise<ActivatorMemory> {
    const found: Record<string, PodMemory> = {};
    for (const { name, uid } of this.#pods) {
      const memory = await podMemory(this.#cluster, uid);
      if (memory.size === 0) throw new Error(`The pod ${name} of the activator has ended.`);
      const { anonymousMiB } = await usageOf(await processesOf(this.#cluster, [uid]));
      found[name] = { pssMiB: [...memory.values()].reduce((sum, one) => sum + one, 0), ownMiB: anonymousMiB };
    }
    return found;
  }

  /** How often their containers were started again. */
  async restarts(): Promise<number> {
    const found = await listPods(this.#cluster);
    const containers = found.flatMap(
      ({ status }) => (status?.containerStatuses ?? []) as readonly { readonly restartCount: number }[],
    );
    return containers.reduce((sum, { restartCount }) => sum + restartCount, 0);
  }

  async counts(): Promise<ActivatorCounts> {
    const pages = await Promise.all(this.#pods.map(({ address }) => metricsOf(address)));
    const outcomes: Record<string, number> = {};
    for (const page of pages)
      for (const { labels, value } of metricSamples(page, 'steward_activator_connections_total')) {
        const outcome = labels.outcome ?? '';
        outcomes[outcome] = (outcomes[outcome] ?? 0) + value;
      }
    const open = pages.flatMap((page) => metricSamples(page, 'steward_activator_open_connections'));
    return { outcomes, open: open.reduce((sum, { value }) => sum + value, 0) };
  }
}

function listPods({ client }: ManagementCluster): Promise<readonly PlainObject[]> {
  return client.list('v1', 'Pod', activatorDeployment.namespace, activatorSelector);
}

async function metricsOf(address: string): Promise<string> {
  const answer = await fetch(`http://${address}:8081/metrics`, { signal: AbortSignal.timeout(10_000) });
  if (!answer.ok) throw new Error(`The activator at ${address} answered ${answer.status}.`);
  return answer.text();
}
