import { describe, expect, test } from '@jest/globals';
import { commonReasons, conditionTable, isReasonOf, stateCondition } from './conditions.ts';
import type { ConditionRow } from './condition-row.ts';

const kinds: Readonly<Record<string, Readonly<Record<string, ConditionRow>>>> = conditionTable;
const rows = Object.entries(kinds).flatMap(([kind, types]) =>
  Object.entries(types).map(([type, row]) => ({ kind, type, row })),
);

describe('the table of conditions', () => {
  test.each(rows)('$kind $type and its reasons are names that meta/v1 admits', ({ type, row }) => {
    // The pattern of metav1.Condition for `reason`; a type is narrower: one CamelCase word.
    for (const name of [type, ...Object.keys(row.reasons)]) expect(name).toMatch(/^[A-Z][A-Za-z]*$/);
  });

  test.each(rows)('$kind $type has a description in sentences', ({ row }) => {
    for (const text of [row.meaning, ...Object.values(row.reasons), ...Object.values(commonReasons)]) {
      expect(text).toMatch(/^[A-Z].*\.$/);
    }
  });

  test('contains every condition that the control-plane contract of Cluster API consumes', () => {
    const contract = [
      'Available',
      'RollingOut',
      'ScalingUp',
      'ScalingDown',
      'Ready',
      'Initialized',
      'Deleting',
      'Paused',
    ];
    expect(Object.keys(conditionTable.StewardControlPlane)).toEqual(expect.arrayContaining(contract));
  });

  test('distinguishes known reasons, including the common ones, from unknown ones', () => {
    expect(isReasonOf('TenantControlPlane', 'StoreReady', 'OwnedByAnother')).toBe(true);
    expect(isReasonOf('TenantControlPlane', 'StoreReady', 'Blocked')).toBe(true);
    expect(isReasonOf('TenantControlPlane', 'StoreReady', 'Fine')).toBe(false);
  });

  test('does not compile with a type or a reason that is not in the table', () => {
    // @ts-expect-error the type is not in the table
    stateCondition('DataStore', { type: 'Nice', status: 'True', reason: 'Succeeded', message: '' });
    // @ts-expect-error the reason belongs to another condition
    stateCondition('DataStore', { type: 'Reachable', status: 'True', reason: 'Supported', message: '' });
    const stated = stateCondition('DataStore', { type: 'Ready', status: 'True', reason: 'Ready', message: '' });
    expect(stated.type).toBe('Ready');
  });
});
