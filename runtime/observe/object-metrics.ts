import { setImmediate as breathe } from 'node:timers/promises';

import { Gauge } from 'prom-client';

/** One value of an object. */
export interface ObjectSample {
  readonly value: number;
  /** The labels besides those that name the object. */
  readonly labels?: Readonly<Record<string, string>>;
}

/** What is measured of every object of a kind, from its cached state. */
export interface ObjectMetric<T> {
  /** With the unit at its end, as Prometheus names metrics. */
  readonly name: string;
  readonly help: string;
  /** Absent for a gauge. A counter may be reset to a lower value. */
  readonly type?: 'counter';
  /** Names of the labels of its samples. */
  readonly labels: readonly string[];
  /** None for an object of which it is not known. */
  readonly samples: (object: T) => readonly ObjectSample[];
}

/** Where the objects are found, and which labels name one. */
export interface ObjectSource<T> {
  readonly list: () => readonly T[];
  readonly labels: readonly string[];
  readonly nameOf: (object: T) => Readonly<Record<string, string>>;
}

/** Between so many objects, others may run: a scrape of many objects must not delay reconciles. */
const atOnce = 500;

type Sampled = Awaited<ReturnType<Gauge['get']>>['values'];

/** The values of a metric of all objects. */
export async function samplesOf<T>(metric: ObjectMetric<T>, source: ObjectSource<T>): Promise<Sampled> {
  const values: Sampled = [];
  for (const [index, object] of source.list().entries()) {
    if (index > 0 && index % atOnce === 0) await breathe();
    const name = source.nameOf(object);
    for (const { value, labels } of metric.samples(object)) values.push({ value, labels: { ...name, ...labels } });
  }
  return values;
}

/**
 * Reads the objects when metrics are scraped. Nothing is kept between scrapes, so that a deleted object leaves nothing behind, and
 * objects cost nothing while metrics are not scraped.
 */
export class ObjectGauge<T> extends Gauge {
  readonly #metric: ObjectMetric<T>;
  readonly #source: ObjectSource<T>;

  constructor(metric: ObjectMetric<T>, source: ObjectSource<T>) {
    const { name, help, labels } = metric;
    super({ name, help, labelNames: [...source.labels, ...labels], registers: [] });
    this.#metric = metric;
    this.#source = source;
  }

  override async get(): ReturnType<Gauge['get']> {
    return { ...(await super.get()), values: await samplesOf(this.#metric, this.#source) };
  }
}
