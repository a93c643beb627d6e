import { expect, test } from '@jest/globals';
import { Registry } from 'prom-client';

import { ObjectCounter } from './object-counter.ts';
import { ObjectGauge } from './object-metrics.ts';
import type { ObjectMetric } from './object-metrics.ts';

interface Thing {
  readonly name: string;
  readonly sizes: Readonly<Record<string, number>>;
}

const size: ObjectMetric<Thing> = {
  name: 'thing_size_bytes',
  help: 'Bytes of each part',
  labels: ['part'],
  samples: ({ sizes }) => Object.entries(sizes).map(([part, value]) => ({ value, labels: { part } })),
};

async function scraped(things: readonly Thing[]): Promise<string> {
  const registry = new Registry();
  const source = { list: () => things, labels: ['name'], nameOf: ({ name }: Thing) => ({ name }) };
  registry.registerMetric(new ObjectGauge(size, source));
  return registry.metrics();
}

test('every sample of every object is a series with its name', async () => {
  const text = await scraped([
    { name: 'a', sizes: { head: 1, tail: 2 } },
    { name: 'b', sizes: {} },
    { name: 'c "quoted"', sizes: { head: 3 } },
  ]);
  expect(text.split('\n').filter((line) => line !== '')).toEqual([
    '# HELP thing_size_bytes Bytes of each part',
    '# TYPE thing_size_bytes gauge',
    'thing_size_bytes{name="a",part="head"} 1',
    'thing_size_bytes{name="a",part="tail"} 2',
    String.raw`thing_size_bytes{name="c \"quoted\"",part="head"} 3`,
  ]);
});

test('an object that is gone leaves no series behind', async () => {
  const registry = new Registry();
  let things: readonly Thing[] = [{ name: 'a', sizes: { head: 1 } }];
  const source = { list: () => things, labels: ['name'], nameOf: ({ name }: Thing) => ({ name }) };
  registry.registerMetric(new ObjectGauge(size, source));
  expect(await registry.metrics()).toContain('name="a"');
  things = [];
  expect(await registry.metrics()).not.toContain('name="a"');
});

test('others run while many objects are read', async () => {
  const things = Array.from({ length: 2000 }, (_, index) => ({ name: `t${index}`, sizes: { head: index } }));
  let immediate = 0;
  const again = (): void => {
    immediate += 1;
    if (immediate < 100) setImmediate(again);
  };
  setImmediate(again);
  const text = await scraped(things);
  expect(immediate).toBeGreaterThan(1);
  expect(text.split('\n').filter((line) => line.startsWith('thing_size_bytes{'))).toHaveLength(2000);
});

test('a value that only grows is a counter', async () => {
  const registry = new Registry();
  const metric: ObjectMetric<Thing> = { ...size, name: 'thing_writes_total', type: 'counter' };
  const things: readonly Thing[] = [{ name: 'a', sizes: { head: 1 } }];
  const source = { list: () => things, labels: ['name'], nameOf: ({ name }: Thing) => ({ name }) };
  registry.registerMetric(new ObjectCounter(metric, source));
  expect((await registry.metrics()).split('\n').slice(1, 3)).toEqual([
    '# TYPE thing_writes_total counter',
    'thing_writes_total{name="a",part="head"} 1',
  ]);
});
