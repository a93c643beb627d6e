import { describe, expect, test } from '@jest/globals';
import { allKinds } from '../../api/all-kinds.ts';
import { commonReasons, conditionTable } from '../../api/conditions.ts';
import type { ConditionRow } from '../../api/condition-row.ts';
import { healthKey } from './argo-cd-health.ts';
import { healthRules } from './health-rules.ts';

const cases = healthRules.map((rule) => [rule.kind.kind, rule] as const);
const rowsOf = (kind: keyof typeof conditionTable): Readonly<Record<string, ConditionRow>> => conditionTable[kind];

describe('The rules of health', () => {
  test('each kind that reports conditions has one', () => {
    expect(healthRules.map(({ kind }) => kind.kind).toSorted()).toEqual(Object.keys(conditionTable).toSorted());
    const reporting = allKinds.filter(({ status }) => status !== undefined).map(({ kind }) => kind);
    expect(healthRules.map(({ kind }) => kind.kind).toSorted()).toEqual(reporting.toSorted());
  });

  test('each has a key of its own in the ConfigMap of Argo CD', () => {
    const keys = healthRules.map(healthKey);
    expect(new Set(keys).size).toBe(keys.length);
    for (const key of keys) expect(key).toMatch(/^resource\.customizations\.health\.[a-z0-9.-]+_[A-Za-z]+$/);
  });

  test.each(cases)('that of %s names conditions and reasons that the kind has', (kind, { summary, busy, ...rule }) => {
    const rows = rowsOf(kind as keyof typeof conditionTable);
    for (const type of [summary, busy ?? summary]) expect(Object.keys(rows)).toContain(type);
    const known = [
      ...Object.values(rows).flatMap(({ reasons }) => Object.keys(reasons)),
      ...Object.keys(commonReasons),
    ];
    for (const reason of Object.keys({ ...rule.whenTrue, ...rule.whenFalse })) expect(known).toContain(reason);
  });

  test.each(cases)('that of %s decides about each reason of its summary', (kind, { summary, ...rule }) => {
    const decided = Object.keys({ ...rule.whenTrue, ...rule.whenFalse });
    // The name of the condition is the reason when it is True; the others are those of Unknown.
    const usual = [summary, 'ReadyUnknown', 'DefinitionOutdated'];
    const { reasons } = rowsOf(kind as keyof typeof conditionTable)[summary] ?? { reasons: {} };
    const open = Object.keys(reasons).filter((reason) => !decided.includes(reason) && !usual.includes(reason));
    // What the parts of a summary blame is degraded, unless it has been decided otherwise.
    expect(kind === 'DataStore' ? [] : open).toEqual([]);
  });
});
