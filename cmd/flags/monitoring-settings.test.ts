import { expect, test } from '@jest/globals';

import { UsageError } from './flags.ts';
import { monitoringSettings } from './monitoring-settings.ts';

const flags = { 'monitor-tenants': true, 'pod-monitor-labels': '', 'pod-monitor-interval': '60s' };

test('Prometheus scrapes control planes only if a flag of the manager enables it', () => {
  expect(monitoringSettings({ ...flags, 'monitor-tenants': false })).toBeUndefined();
  expect(monitoringSettings(flags)).toEqual({ labels: {}, interval: '60000ms' });
});

test('labels and the interval are those of the flags', () => {
  const given = { ...flags, 'pod-monitor-labels': 'release=prom, example.com/team=', 'pod-monitor-interval': '1m30s' };
  expect(monitoringSettings(given)).toEqual({
    labels: { release: 'prom', 'example.com/team': '' },
    interval: '90000ms',
  });
});

test.each([
  [{ 'pod-monitor-labels': 'release' }, 'takes labels as key=value, separated by commas, got "release"'],
  [{ 'pod-monitor-labels': 'a=b c' }, 'got "a=b c"'],
  [{ 'pod-monitor-interval': '1s' }, '--pod-monitor-interval takes at least 5s'],
  [{ 'pod-monitor-interval': 'often' }, '--pod-monitor-interval: '],
])('%j is refused', (given, message) => {
  expect(() => monitoringSettings({ ...flags, ...given })).toThrow(UsageError);
  expect(() => monitoringSettings({ ...flags, ...given })).toThrow(message);
});
