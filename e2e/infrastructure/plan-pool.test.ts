import { describe, expect, test } from '@jest/globals';

import type { PoolMachine } from './plan-pool.ts';
import { planPool } from './plan-pool.ts';

const machine = (name: string, more: Partial<PoolMachine> = {}): PoolMachine => ({
  name,
  version: 'v1.36.3',
  provisioned: true,
  deleting: false,
  ...more,
});

describe('The plan of a pool of machines', () => {
  test.each([
    { title: 'makes what is missing', replicas: 2, machines: [machine('a')], plan: { create: 1, remove: [] } },
    { title: 'leaves a full pool alone', replicas: 1, machines: [machine('a')], plan: { create: 0, remove: [] } },
    {
      title: 'takes away machines that do not serve yet before those that do',
      replicas: 1,
      machines: [machine('a', { provisioned: false }), machine('b')],
      plan: { create: 0, remove: ['a'] },
    },
    {
      title: 'makes another for one that goes',
      replicas: 1,
      machines: [machine('a', { deleting: true })],
      plan: { create: 1, remove: [] },
    },
    {
      title: 'makes machines of another version first',
      replicas: 1,
      machines: [machine('a', { version: 'v1.35.4' })],
      plan: { create: 1, remove: [] },
    },
    {
      title: 'keeps the old ones while the new ones come',
      replicas: 1,
      machines: [machine('a', { version: 'v1.35.4' }), machine('b', { provisioned: false })],
      plan: { create: 0, remove: [] },
    },
    {
      title: 'takes away the old ones when the new ones serve',
      replicas: 1,
      machines: [machine('a', { version: 'v1.35.4' }), machine('b')],
      plan: { create: 0, remove: ['a'] },
    },
    {
      title: 'empties a pool of no replicas',
      replicas: 0,
      machines: [machine('a'), machine('b', { version: 'v1.35.4' })],
      plan: { create: 0, remove: ['a', 'b'] },
    },
  ])('$title', ({ replicas, machines, plan }) => {
    expect(planPool(replicas, 'v1.36.3', machines)).toEqual(plan);
  });
});
