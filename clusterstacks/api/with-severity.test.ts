import { expect, test } from '@jest/globals';
import type { Condition } from '../../api/meta.ts';
import type { StackCondition } from './stack-condition.ts';
import { withSeverity } from './with-severity.ts';

const condition = (status: Condition['status'], reason: string): Condition => ({
  type: 'Ready',
  status,
  reason,
  message: '',
  lastTransitionTime: '2026-01-01T00:00:00Z',
});

test('a condition that is False has the severity of its reason', () => {
  expect(withSeverity([condition('False', 'HelmChartMissing'), condition('False', 'Waiting')])).toEqual([
    { ...condition('False', 'HelmChartMissing'), severity: 'Error' },
    { ...condition('False', 'Waiting'), severity: 'Info' },
  ]);
});

test('any other condition has no severity, and loses an earlier one', () => {
  const before: StackCondition = { ...condition('Unknown', 'HelmChartMissing'), severity: 'Error' };
  expect(withSeverity([condition('True', 'Ready'), before])).toEqual([
    condition('True', 'Ready'),
    condition('Unknown', 'HelmChartMissing'),
  ]);
});
