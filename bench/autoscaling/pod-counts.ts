import { setTimeout as pause } from 'node:timers/promises';

import type { TenantStage } from '../../e2e/framework/tenant-stage.ts';

/** How many pods there were at a moment. */
export interface PodCount {
  /** Since the begin. */
  readonly seconds: number;
  readonly wanted: number;
  readonly ready: number;
  /** What the autoscaler saw: CPU of kube-apiserver in percent of its request; absent while it has no metrics. */
  readonly cpuPercent?: number;
}

interface SeenAutoscaler {
  readonly currentMetrics?: readonly {
    readonly containerResource?: { readonly current: { readonly averageUtilization?: number } };
  }[];
}

const paceMs = 2000;

/** Looks at the autoscaler and the Deployment of a control plane every two seconds, until it is disposed of. */
export class PodCounts implements AsyncDisposable {
  readonly #stage: TenantStage;
  readonly #name: string;
  readonly #began = performance.now();
  readonly #counts: PodCount[] = [];
  readonly #stop = new AbortController();
  readonly #working: Promise<void>;

  constructor(stage: TenantStage, name: string) {
    this.#stage = stage;
    this.#name = name;
    this.#working = this.#look();
  }

  /** All that was seen, in its order. */
  get all(): readonly PodCount[] {
    return this.#counts;
  }

  get secondsNow(): number {
    return (performance.now() - this.#began) / 1000;
  }

  /** Resolves at the next count of which this is true, false after `timeoutMs`. */
  async until(met: (count: PodCount) => boolean, timeoutMs: number): Promise<boolean> {
    const end = performance.now() + timeoutMs;
    const from = this.#counts.length;
    while (!this.#counts.slice(from).some(met)) {
      if (performance.now() > end) return false;
      await pause(paceMs / 4);
    }
    return true;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#stop.abort();
    await this.#working;
  }

  async #look(): Promise<void> {
    while (!this.#stop.signal.aborted) {
      this.#counts.push(await this.#count());
      await pause(paceMs, undefined, { signal: this.#stop.signal }).catch(() => undefined /* aborted */);
    }
  }

  async #count(): Promise<PodCount> {
    const { client } = this.#stage.cluster;
    const [deployment, autoscaler] = await Promise.all([
      client.read(this.#stage.at('Deployment', this.#name, 'apps/v1')),
      client.read(this.#stage.at('HorizontalPodAutoscaler', this.#name, 'autoscaling/v2')),
    ]);
    const [metric] = (autoscaler?.status as SeenAutoscaler | undefined)?.currentMetrics ?? [];
    const cpuPercent = metric?.containerResource?.current.averageUtilization;
    return {
      seconds: Math.round(10 * this.secondsNow) / 10,
      wanted: Number(deployment?.spec?.replicas ?? 0),
      ready: Number(deployment?.status?.readyReplicas ?? 0),
      ...(cpuPercent !== undefined && { cpuPercent }),
    };
  }
}
