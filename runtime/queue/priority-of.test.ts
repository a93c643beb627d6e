import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import type { Resource } from '../../api/meta.ts';
import { priorityOf } from './priority-of.ts';

const metadata = { name: 'a', uid: 'u', resourceVersion: '1' };

interface Tenant extends Resource {
  readonly status?: { readonly conditions?: readonly object[] };
}

/** An object with conditions that are True, and others that are False. */
const objectWith = (met: readonly string[], unmet: readonly string[] = []): Tenant => {
  const conditionOf = (type: string, status: string): object => ({ type, status, reason: 'R', message: '' });
  const conditions = [
    ...met.map((type) => conditionOf(type, 'True')),
    ...unmet.map((type) => conditionOf(type, 'False')),
  ];
  return { apiVersion: 'v1', kind: 'Tenant', metadata, status: { conditions } };
};

const bare: Tenant = { apiVersion: 'v1', kind: 'Tenant', metadata };

describe('The priority of an object', () => {
  test('is higher the nearer it is to Ready, and lowest once it is', () => {
    const objects = [
      objectWith(['Ready', 'A', 'B']),
      bare,
      objectWith(['A'], ['Ready']),
      objectWith(['A', 'B'], ['Ready']),
    ];
    const priorities = objects.map((object) => priorityOf(object, 'usual'));
    expect(priorities).toEqual([0, 1, 2, 3]);
  });

  test('is always that of an edit for an edit, which is the highest', () => {
    expect(priorityOf(objectWith(['Ready']), 'edit')).toBe(priorityOf(bare, 'edit'));
    expect(priorityOf(bare, 'edit')).toBeGreaterThan(priorityOf(objectWith(['A', 'B', 'C']), 'usual'));
  });

  test('of a key whose object is not known is the lowest of its occasion', () => {
    expect([priorityOf(undefined, 'usual'), priorityOf(undefined, 'startUp')]).toEqual([0, -100]);
  });

  test('stays between those of two occasions, whatever a status holds', () => {
    const types = fc.uniqueArray(fc.string(), { maxLength: 300 });
    fc.assert(
      fc.property(types, fc.constantFrom('usual' as const, 'startUp' as const), (met, occasion) => {
        const priority = priorityOf(objectWith(met), occasion);
        const least = occasion === 'usual' ? 0 : -100;
        expect(priority).toBeGreaterThanOrEqual(least);
        expect(priority).toBeLessThan(least + 100);
      }),
    );
    const odd = [{ conditions: 'none' }, { conditions: [{}] }, [], 'x', null];
    for (const status of odd) expect(priorityOf({ ...bare, status } as Tenant, 'usual')).toBe(1);
  });
});
