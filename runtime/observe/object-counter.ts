import { Counter } from 'prom-client';
import { samplesOf } from './object-metrics.ts';
import type { ObjectMetric, ObjectSource } from './object-metrics.ts';

/** Like `ObjectGauge`, for values that only grow. */
export class ObjectCounter<T> extends Counter {
  readonly #metric: ObjectMetric<T>;
  readonly #source: ObjectSource<T>;

  constructor(metric: ObjectMetric<T>, source: ObjectSource<T>) {
    const { name, help, labels } = metric;
    super({ name, help, labelNames: [...source.labels, ...labels], registers: [] });
    this.#metric = metric;
    this.#source = source;
  }

  override async get(): ReturnType<Counter['get']> {
    return { ...(await super.get()), values: await samplesOf(this.#metric, this.#source) };
  }
}
