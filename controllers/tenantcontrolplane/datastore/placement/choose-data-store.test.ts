import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { storedMeta } from '../../../../api/as-stored.ts';
import type { Condition } from '../../../../api/meta.ts';
import type { DataStore } from '../../../../api/steward/v1alpha1/data-store.ts';
import type { DataStoreToleration } from '../../../../api/steward/v1alpha1/data-store-placement.ts';
import { chooseDataStore } from './choose-data-store.ts';
import type { Candidate } from './refusals.ts';
import { choiceReasons, noFitMessage } from './choice-words.ts';
import { intolerable } from './taints.ts';
import { verifiedIsolation } from '../../../../testing/builders/verified-isolation.ts';

interface Told {
  readonly name: string;
  readonly labels?: Record<string, string>;
  readonly placement?: DataStore['spec']['placement'];
  readonly ready?: 'True' | 'False' | 'Unknown';
  readonly sizeBytes?: number;
  readonly deleting?: boolean;
  readonly allowedNamespaces?: DataStore['spec']['allowedNamespaces'];
  /** What is said of its isolation; that it is verified by default. */
  readonly isolation?: readonly Condition[];
  /** Generation that the conditions describe; the object's is 2. */
  readonly observed?: number;
}

function store(told: Told): DataStore {
  const { name, labels = {}, placement, allowedNamespaces, ready = 'True', sizeBytes, deleting = false } = told;
  const message = ready === 'True' ? '' : 'Reachable: etcd:2379: no answer';
  const observedGeneration = told.observed ?? 2;
  const lastTransitionTime = '2030-01-01T00:00:00Z';
  return {
    apiVersion: 'steward.butlerlabs.dev/v1alpha1',
    kind: 'DataStore',
    metadata: storedMeta({
      name,
      labels,
      generation: 2,
      ...(deleting && { deletionTimestamp: '2030-01-01T00:00:00Z' }),
    }),
    spec: { driver: 'etcd', endpoints: ['etcd:2379'], placement, allowedNamespaces },
    status: {
      conditions: [
        { type: 'Ready', status: ready, reason: 'X', message, observedGeneration, lastTransitionTime },
        ...(told.isolation ?? [verifiedIsolation]),
      ],
      sizeBytes,
    },
  };
}

const origin = { namespace: 'blue', labels: { team: 'a' } };
const nothing = { selector: undefined, tolerations: [], origin };
const with10 = (tenants: number, told: Partial<Told> = {}): Candidate => ({
  store: store({ name: 'a', placement: { weight: 1, capacity: { tenants: 10 } }, ...told }),
  tenants,
});
const taints = (effect: 'NoPlacement' | 'PreferNoPlacement', value?: string): DataStore['spec']['placement'] => ({
  weight: 1,
  taints: [{ key: 'for', effect, value }],
});

describe('A DataStore', () => {
  test.each<[string, Candidate, string]>([
    ['is being deleted', with10(0, { deleting: true }), 'is being deleted'],
    ['is not Ready', with10(0, { ready: 'False' }), 'is not Ready: Reachable: etcd:2379: no answer'],
    ['is not verified yet', with10(0, { isolation: [] }), 'has not been verified to isolate tenants'],
    [
      'lets a tenant out',
      with10(0, { isolation: [{ ...verifiedIsolation, status: 'False', reason: 'Breached', message: 'watch' }] }),
      'is not verified to isolate tenants (Breached)',
    ],
    ['could not be checked', with10(0, { ready: 'Unknown' }), 'is not Ready'],
    ['was changed and not checked since', with10(0, { observed: 1 }), 'has not been checked since'],
    ['is full', with10(10), 'is full: it holds 10 of 10 tenants'],
    ['is fuller than full', with10(11), 'is full'],
    ['has a capacity of no tenants', with10(0, { placement: { weight: 1, capacity: { tenants: 0 } } }), 'is full'],
    [
      'holds all the bytes that it may',
      with10(0, { placement: { weight: 1, capacity: { size: '1Gi' } }, sizeBytes: 2 ** 30 }),
      'is full: it holds 0 tenants and 1 GiB of 1 GiB',
    ],
    ['serves one tenant and has it', { ...with10(1), servesOne: true }, 'serves only one tenant'],
    [
      'names other namespaces',
      with10(0, { allowedNamespaces: { names: ['red'] } }),
      'accepts no tenants from namespace blue',
    ],
    [
      'selects other namespaces',
      with10(0, { allowedNamespaces: { selector: { matchLabels: { team: 'b' } } } }),
      'accepts no tenants from namespace blue',
    ],
    ['is tainted', with10(0, { placement: taints('NoPlacement', 'gold') }), 'has the taint for=gold:NoPlacement'],
  ])('that %s accepts no tenant, with the reason', (_words, candidate, reason) => {
    const { fits, refused } = chooseDataStore(nothing, [candidate]);
    expect(fits).toEqual([]);
    expect(refused[0]?.reasons.join()).toContain(reason);
    expect(noFitMessage({ refused })).toContain(`no DataStore fits: a: ${refused[0]?.reasons.join(', ') ?? ''}`);
  });

  test('without a status accepts no tenant', () => {
    const unseen = { ...store({ name: 'a' }), status: {} };
    expect(chooseDataStore(nothing, [{ store: unseen, tenants: 0 }]).refused).toEqual([
      { name: 'a', reasons: ['has not been checked since it was created or changed'] },
    ]);
  });

  test('without the required labels accepts no tenant, one with them does', () => {
    const selector = { matchLabels: { tier: 'gold' } };
    const [bare, gold] = [store({ name: 'a' }), store({ name: 'b', labels: { tier: 'gold' } })];
    const { fits, refused } = chooseDataStore(
      { ...nothing, selector },
      [bare, gold].map((one) => ({ store: one, tenants: 0 })),
    );
    expect(fits.map(({ name }) => name)).toEqual(['b']);
    expect(refused).toEqual([{ name: 'a', reasons: ['does not have the labels tier=gold'] }]);
  });

  test.each<[string, DataStoreToleration, boolean]>([
    ['the same key and value', { key: 'for', operator: 'Equal', value: 'gold' }, true],
    ['another value', { key: 'for', operator: 'Equal', value: 'silver' }, false],
    ['no value', { key: 'for', operator: 'Equal' }, false],
    ['any value', { key: 'for', operator: 'Exists' }, true],
    ['any key', { operator: 'Exists' }, true],
    ['another key', { key: 'fo', operator: 'Exists' }, false],
    ['the same effect', { key: 'for', operator: 'Exists', effect: 'NoPlacement' }, true],
    ['another effect', { key: 'for', operator: 'Exists', effect: 'PreferNoPlacement' }, false],
    ['nothing', { operator: 'Equal' }, false],
  ])('with a taint is chosen for a tenant that tolerates %s', (_words, toleration, takes) => {
    const tainted = store({ name: 'a', placement: taints('NoPlacement', 'gold') });
    const { fits } = chooseDataStore({ ...nothing, tolerations: [toleration] }, [{ store: tainted, tenants: 0 }]);
    expect(fits).toHaveLength(takes ? 1 : 0);
  });

  test.each<[string, better: readonly [Told, number], worse: readonly [Told, number]]>([
    ['is emptier', [{ name: 'b' }, 1], [{ name: 'a' }, 2]],
    [
      'is emptier for its size',
      [{ name: 'b', placement: { weight: 1, capacity: { tenants: 500 } } }, 50],
      [{ name: 'a' }, 20],
    ],
    ['has more weight', [{ name: 'b', placement: { weight: 3 } }, 5], [{ name: 'a' }, 2]],
    ['has fewer bytes', [{ name: 'b', sizeBytes: 1 }, 0], [{ name: 'a', sizeBytes: 2 }, 0]],
    [
      'has more bytes left although it has more tenants',
      [{ name: 'b', placement: { weight: 1, capacity: { size: '10' } }, sizeBytes: 1 }, 3],
      [{ name: 'a', placement: { weight: 1, capacity: { size: '10' } }, sizeBytes: 9 }, 0],
    ],
    [
      'has no taint PreferNoPlacement',
      [{ name: 'b' }, 999],
      [{ name: 'a', placement: taints('PreferNoPlacement') }, 0],
    ],
    ['comes first by name', [{ name: 'a' }, 7], [{ name: 'b' }, 7]],
  ])('is chosen if it %s', (_words, ...pair) => {
    const candidates = pair.map(([told, tenants]) => ({ store: store(told), tenants }));
    const choice = chooseDataStore(nothing, candidates.toReversed());
    expect(choice.fits.map(({ name }) => name)).toEqual(pair.map(([told]) => told.name));
    expect(choiceReasons(choice)).toHaveLength(2);
  });

  test('is reported with its score, as are the others, in lines of limited length', () => {
    const long = store({ name: 'z', ready: 'False' });
    const conditions = long.status?.conditions?.map((condition) => ({ ...condition, message: 'x'.repeat(5000) })) ?? [];
    const many = Array.from({ length: 20 }, (_, n) => ({ store: store({ name: `s${n + 10}` }), tenants: n }));
    const choice = chooseDataStore(nothing, [...many, { store: { ...long, status: { conditions } }, tenants: 0 }]);
    const lines = choiceReasons(choice);
    expect(lines[0]).toBe('s10: score 100: holds 0 tenants');
    expect(lines.at(-1)).toBe('and 9 more');
    expect(noFitMessage({ refused: choice.refused }).length).toBeLessThan(500);
    expect(noFitMessage({ refused: [] })).toBe('there is no DataStore: create one');
  });
});

const anyTaint = fc.record({
  key: fc.constantFrom('a', 'b'),
  value: fc.constantFrom('', 'x', 'y'),
  effect: fc.constantFrom('NoPlacement' as const, 'PreferNoPlacement' as const),
});
const anyStore = (name: string): fc.Arbitrary<DataStore> =>
  fc
    .record({
      labels: fc.dictionary(fc.constantFrom('tier', 'zone'), fc.constantFrom('gold', 'silver')),
      taints: fc.array(anyTaint, { maxLength: 2 }),
      tenants: fc.option(fc.integer({ min: 0, max: 6 }), { nil: undefined }),
      weight: fc.integer({ min: 1, max: 5 }),
      ready: fc.constantFrom('True' as const, 'True' as const, 'False' as const),
      sizeBytes: fc.option(fc.integer({ min: 0, max: 20 }), { nil: undefined }),
      deleting: fc.boolean().map((value) => value && name === 's0'),
    })
    .map(({ labels, taints: list, tenants, weight, ready, sizeBytes, deleting }) =>
      store({
        name,
        labels,
        ready,
        deleting,
        sizeBytes,
        placement: { weight, taints: list, capacity: { size: '15', tenants } },
      }),
    );
const anyStores = fc
  .integer({ min: 0, max: 6 })
  .chain((count) => fc.tuple(...Array.from({ length: count }, (_, n) => anyStore(`s${n}`))));
const anyConstraints = fc
  .record({
    selector: fc.constantFrom(undefined, {}, { matchLabels: { tier: 'gold' } }),
    tolerations: fc.array(
      fc.record({
        key: fc.constantFrom('a', 'b'),
        operator: fc.constantFrom('Equal' as const, 'Exists' as const),
        effect: fc.constantFrom(undefined, 'NoPlacement' as const),
      }),
      { maxLength: 2 },
    ),
  })
  .map(({ selector, tolerations }) => ({
    selector,
    origin,
    tolerations: tolerations.map(({ effect, ...rest }) => ({ ...rest, effect })),
  }));

describe('Placement', () => {
  test('never exceeds the capacity of a datastore, and never chooses one that a rule forbids', () => {
    fc.assert(
      fc.property(anyStores, fc.array(anyConstraints, { maxLength: 30 }), (stores, tenants) => {
        const held = new Map<string, number>();
        for (const constraints of tenants) {
          const candidates = stores.map((one) => ({ store: one, tenants: held.get(one.metadata.name) ?? 0 }));
          const name = chooseDataStore(constraints, candidates).fits[0]?.name;
          const chosen = stores.find(({ metadata }) => metadata.name === name);
          if (name === undefined || chosen === undefined) continue;
          held.set(name, (held.get(name) ?? 0) + 1);
          expect(held.get(name)).toBeLessThanOrEqual(chosen.spec.placement?.capacity?.tenants ?? Infinity);
          expect(chosen.status?.sizeBytes ?? 0).toBeLessThan(15);
          expect(chosen.status?.conditions?.[0]?.status).toBe('True');
          expect(chosen.metadata.deletionTimestamp).toBeUndefined();
          expect(intolerable(chosen, constraints.tolerations).every(({ effect }) => effect !== 'NoPlacement')).toBe(
            true,
          );
          if (constraints.selector?.matchLabels !== undefined)
            expect(chosen.metadata.labels).toMatchObject({ tier: 'gold' });
        }
      }),
    );
  });

  test('finds a datastore as long as one fits', () => {
    fc.assert(
      fc.property(anyStores, anyConstraints, (stores, constraints) => {
        const candidates = stores.map((one) => ({ store: one, tenants: 0 }));
        const { fits, refused } = chooseDataStore(constraints, candidates);
        expect(fits.length + refused.length).toBe(stores.length);
        expect(refused.every(({ reasons }) => reasons.length > 0)).toBe(true);
      }),
    );
  });

  test('does not depend on the order, and another datastore changes the result only if it is chosen', () => {
    const loaded = anyStores.chain((stores) =>
      fc.tuple(...stores.map((one) => fc.record({ store: fc.constant(one), tenants: fc.nat(8) }))),
    );
    fc.assert(
      fc.property(loaded, anyConstraints, fc.nat(), (candidates, constraints, left) => {
        const names = (of: readonly Candidate[]): readonly string[] =>
          chooseDataStore(constraints, of).fits.map(({ name }) => name);
        const all = names(candidates);
        expect(names([...candidates].reverse())).toEqual(all);
        const gone = candidates[left % Math.max(candidates.length, 1)]?.store.metadata.name;
        const rest = names(candidates.filter(({ store: one }) => one.metadata.name !== gone));
        expect(rest).toEqual(all.filter((name) => name !== gone));
      }),
    );
  });

  test('spreads tenants over equal datastores so that none has two more than another', () => {
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 6 }), fc.integer({ min: 0, max: 60 }), (count, tenants) => {
        const held = Array.from({ length: count }, () => 0);
        for (let placed = 0; placed < tenants; placed += 1) {
          const candidates = held.map((used, n) => ({ store: store({ name: `${n}` }), tenants: used }));
          const chosen = Number(chooseDataStore(nothing, candidates).fits[0]?.name);
          held[chosen] = (held[chosen] ?? 0) + 1;
        }
        expect(Math.max(...held) - Math.min(...held)).toBeLessThanOrEqual(1);
      }),
    );
  });

  test('gives a datastore of weight three three times as many tenants', () => {
    const held = { heavy: 0, light: 0 };
    for (let placed = 0; placed < 400; placed += 1) {
      const { fits } = chooseDataStore(nothing, [
        { store: store({ name: 'heavy', placement: { weight: 3 } }), tenants: held.heavy },
        { store: store({ name: 'light' }), tenants: held.light },
      ]);
      held[fits[0]?.name === 'heavy' ? 'heavy' : 'light'] += 1;
    }
    expect(held).toEqual({ heavy: 300, light: 100 });
  });
});
