import { expect, test } from '@jest/globals';
import fc from 'fast-check';
import { readScenarios } from './scenario.ts';
import type { Scenario } from './scenario.ts';
import { scenarioOrder } from './scenario-order.ts';

const scenarios: readonly Scenario[] = [
  { name: 'demo', shares: undefined },
  { name: 'external', shares: undefined },
  { name: 'flux', shares: undefined },
  { name: 'harness', shares: undefined },
  { name: 'import', shares: 'steward' },
  { name: 'rotation', shares: 'steward' },
  { name: 'tenants', shares: 'steward' },
  { name: 'topology', shares: 'capi' },
  { name: 'workers', shares: 'capi' },
];
const names = (seed: number): readonly string[] => scenarioOrder(scenarios, seed).map(({ name }) => name);
const seeds = fc.nat(2 ** 31 - 1);

test('each scenario has a turn, and those that share a cluster follow each other', () => {
  fc.assert(
    fc.property(seeds, (seed) => {
      const order = scenarioOrder(scenarios, seed);
      expect(order.map(({ name }) => name).toSorted()).toEqual(scenarios.map(({ name }) => name));
      const kinds = order.map(({ name, shares }) => shares ?? name);
      const changes = kinds.filter((kind, at) => kind !== kinds[at - 1]);
      expect(changes).toHaveLength(new Set(kinds).size);
    }),
  );
});

test('scenarios beyond the core come late, but among those that share a cluster with the core, and those with programs of their own last', () => {
  fc.assert(
    fc.property(seeds, (seed) => {
      expect(names(seed).slice(-2)).toEqual(['external', 'flux']);
      const sharing = names(seed).filter((name) => ['import', 'rotation', 'tenants'].includes(name));
      expect(sharing.at(-1)).toBe('rotation');
    }),
  );
});

test('a seed repeats its order, and others choose others', () => {
  expect(names(1)).toEqual(names(1));
  const orders = new Set(Array.from({ length: 30 }, (_, seed) => names(seed).join()));
  expect(orders.size).toBeGreaterThan(10);
});

test('the calls of each scenario of this repository show which cluster it shares', async () => {
  const all = await readScenarios();
  const sharing = (kind: string): readonly string[] =>
    all.filter(({ shares }) => shares === kind).map(({ name }) => name);
  expect(sharing('steward')).toEqual(expect.arrayContaining(['exposure', 'tenants']));
  expect(sharing('capi')).toEqual(['cluster-api', 'topology', 'workers']);
  // They change the manager, or need a cluster on which nothing is installed.
  for (const name of ['manager-restart', 'namespace-rights', 'clusterctl-upgrade', 'quick-starts'])
    expect(all).toContainEqual({ name, shares: undefined });
});
