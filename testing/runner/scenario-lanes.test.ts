import { expect, test } from '@jest/globals';
import { scenarioLanes } from './scenario-lanes.ts';

test('scenarios run one after the other unless more lanes are requested', () => {
  expect(scenarioLanes('')).toBe(1);
  expect(scenarioLanes('2')).toBe(2);
});

test.each(['0', 'two', '-1', '1.5', '10'])('%s is refused with the accepted values', (text) => {
  expect(() => scenarioLanes(text)).toThrow(`STEWARD_SCENARIOS_AT_ONCE is "${text}": give a number from 1 to 9.`);
});
