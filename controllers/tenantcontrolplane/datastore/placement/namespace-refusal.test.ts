import { describe, expect, test } from '@jest/globals';
import { storedMeta } from '../../../../api/as-stored.ts';
import type { DataStore } from '../../../../api/steward/v1alpha1/data-store.ts';
import { namespaceRefusal, needsLabels } from './namespace-refusal.ts';

type Allowed = DataStore['spec']['allowedNamespaces'];

const store = (allowedNamespaces: Allowed): DataStore => ({
  apiVersion: 'steward.butlerlabs.dev/v1alpha1',
  kind: 'DataStore',
  metadata: storedMeta({ name: 'default' }),
  spec: { driver: 'etcd', endpoints: ['etcd:2379'], allowedNamespaces },
});
const gold = { matchLabels: { tier: 'gold' } };

describe('A DataStore', () => {
  test.each<[string, Allowed, Record<string, string> | undefined, boolean]>([
    ['says nothing', undefined, undefined, true],
    ['names the namespace', { names: ['red', 'blue'] }, undefined, true],
    ['names others', { names: ['red'] }, {}, false],
    ['names no namespace', { names: [] }, {}, false],
    ['selects its labels', { selector: gold }, { tier: 'gold' }, true],
    ['selects others', { selector: gold }, { tier: 'silver' }, false],
    ['selects all', { selector: {} }, {}, true],
    ['selects by labels that were not read', { selector: {} }, undefined, false],
    ['names it and selects others', { names: ['blue'], selector: gold }, {}, true],
    ['names others and selects it', { names: ['red'], selector: gold }, { tier: 'gold' }, true],
  ])('that %s accepts tenants of a namespace, or not', (_words, allowed, labels, takes) => {
    const refusal = namespaceRefusal(store(allowed), { namespace: 'blue', labels });
    expect(refusal).toBe(takes ? undefined : 'accepts no tenants from namespace blue');
  });

  test('requires labels of the namespace only if they decide', () => {
    expect(needsLabels(store(undefined), 'blue')).toBe(false);
    expect(needsLabels(store({ names: ['red'] }), 'blue')).toBe(false);
    expect(needsLabels(store({ names: ['blue'], selector: gold }), 'blue')).toBe(false);
    expect(needsLabels(store({ selector: gold }), 'blue')).toBe(true);
  });
});
