import { expect, test } from '@jest/globals';

import type { Key } from '../../api/meta.ts';
import { seededRandom } from '../../e2e/framework/attacks/seeded-random.ts';
import { idOf } from '../scale/fleet/scale-fleet.ts';
import { Persons } from './persons.ts';
import type { ChangeableFleet } from './persons.ts';

test('Persons know what they have asked for, also when requests fail first', async () => {
  const random = seededRandom(3);
  const there = new Map<string, number | undefined>([['a/0', undefined]]);
  const over = new AbortController();
  let made = 0;
  let asked = 0;
  const sometimes = (act: () => void): Promise<void> => {
    asked += 1;
    if (asked > 200) over.abort();
    if (random() < 0.3 && asked <= 200) return Promise.reject(new Error('refused'));
    act();
    return Promise.resolve();
  };
  const fleet: ChangeableFleet = {
    nextKey: (): Key => {
      made += 1;
      return { namespace: 'a', name: String(made) };
    },
    create: (key) => sometimes(() => there.set(idOf(key), undefined)),
    delete: (key) => sometimes(() => there.delete(idOf(key))),
    change: (key, inflight) => sometimes(() => there.set(idOf(key), inflight)),
  };
  const persons = new Persons({ fleet, tenants: [{ namespace: 'a', name: '0' }], random, everyMs: 0, againMs: 0 });
  await persons.work(over.signal);
  expect(new Map(persons.wanted.map(({ key, inflight }) => [idOf(key), inflight]))).toEqual(there);
  const { rolled, created, deleted, repeated } = persons.counts;
  expect(rolled + created + deleted + repeated).toBe(asked);
  expect([rolled, created, deleted, repeated].every((count) => count > 0)).toBe(true);
});
