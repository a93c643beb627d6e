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
    const found = await super.get();
    const values: (typeof found.values)[number][] = [];
    const objects = this.#source.list();
    for (const [index, object] of objects.entries()) {
      if (index > 0 && index % atOnce === 0) await breathe();
      const name = this.#source.nameOf(object);
      for (const { value, labels } of this.#metric.samples(object))
        values.push({ value, labels: { ...name, ...labels } });
    }
    return { ...found, values };
  }
}
