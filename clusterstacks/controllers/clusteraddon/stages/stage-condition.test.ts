import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import type { ConditionObjects } from './stage-condition.ts';
import { conditionFault, conditionLimits, evaluateCondition } from './stage-condition.ts';

const condition = (expression: string) => ({
  expression,
  objects: [
    { key: 'dep', apiVersion: 'apps/v1', kind: 'Deployment', name: 'cilium-operator', namespace: 'kube-system' },
  ],
});

const verdict = (expression: string, dep?: unknown) => {
  const objects: ConditionObjects = new Map(dep === undefined ? [] : [['dep', dep]]);
  return evaluateCondition(condition(expression), objects);
};

describe('The condition of a stage', () => {
  test('is met when its expression is true for the objects', () => {
    const dep = { spec: { replicas: 2 }, status: { readyReplicas: 2 } };
    expect(verdict('dep.status.readyReplicas == dep.spec.replicas', dep)).toEqual({ is: 'holds' });
  });

  test('computes with whole numbers, like CEL', () => {
    expect(verdict('dep.spec.replicas + 1 == 3', { spec: { replicas: 2 } })).toEqual({ is: 'holds' });
    expect(verdict('dep.spec.share * 2.0 == 3.0', { spec: { share: 1.5 } })).toEqual({ is: 'holds' });
  });

  test.each([
    ['an object that is not there', undefined, 'Deployment kube-system/cilium-operator does not exist yet'],
    ['a field that is not there', { spec: {} }, 'No such key: status'],
    ['a field that is null', { status: null }, 'No such key: readyReplicas'],
    ['a value that does not fit', { spec: { replicas: 1 }, status: { readyReplicas: 0 } }, 'is false'],
  ])('waits for %s', (_, dep, message) => {
    const found = verdict('dep.status.readyReplicas == dep.spec.replicas', dep);
    expect(found).toEqual({ is: 'waits', message: expect.stringContaining(message) });
  });

  test.each([
    ['a syntax error', 'dep.status ==', 'Unexpected token'],
    ['a key that no object has', 'other.status == 1', 'Unknown variable: other'],
    ['a function that there is not', 'dep.launch()', 'dyn.launch()'],
    ['a number where a boolean is expected', '1 + 1', 'is of type int'],
    ['a field that is no truth', 'dep.spec.replicas', 'a condition must be true or false'],
  ])('is broken by %s', (_, expression, message) => {
    const found = verdict(expression, { spec: { replicas: 2 } });
    expect(found).toEqual({ is: 'broken', message: expect.stringContaining(message) });
  });

  test('is known to be broken before any object exists', () => {
    expect(verdict('dep.status ==')).toMatchObject({ is: 'broken' });
    expect(conditionFault(condition('dep.status =='))).toContain('Unexpected token');
    expect(conditionFault(condition('dep.status.readyReplicas > 0'))).toBeUndefined();
  });

  test('is stopped if it takes too long', () => {
    const dep = { items: Array.from({ length: 3_000 }, (_, n) => ({ n })) };
    const began = performance.now();
    const found = verdict('dep.items.all(a, dep.items.all(b, dep.items.all(c, a.n + b.n + c.n >= 0)))', dep);
    expect(found).toEqual({ is: 'waits', message: expect.stringContaining('took longer than 250 ms') });
    expect(performance.now() - began).toBeLessThan(80 * conditionLimits.milliseconds);
  });

  test('is refused if it is too long or too deep to be parsed', () => {
    expect(verdict(`dep.a == "${'x'.repeat(conditionLimits.expression)}"`, {})).toMatchObject({ is: 'broken' });
    expect(verdict(`${'('.repeat(500)}true${')'.repeat(500)}`, {})).toMatchObject({ is: 'broken' });
  });

  test('never throws, whatever it contains and whatever the cluster answers', () => {
    fc.assert(
      fc.property(fc.string({ maxLength: 40 }), fc.jsonValue(), (expression, dep) => {
        expect(['holds', 'waits', 'broken']).toContain(verdict(expression, dep).is);
      }),
      { numRuns: 100 },
    );
  });
});
