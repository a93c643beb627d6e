import { expect, test } from '@jest/globals';

import { connections, hostLimits } from './host-limits.ts';

test.each([
  [1, 131_072],
  [2, 131_072],
  [4, 131_072],
  [16, 524_288],
])('with %d cores kube-proxy wants %d connections', (cores, limit) => {
  expect(connections(cores)).toBe(limit);
});

test('a host that lets users watch more files than machines need keeps its limit', () => {
  const { wanted } = hostLimits.find(({ name }) => name === 'fs.inotify.max_user_instances') ?? {};
  expect(wanted?.(128)).toBe(8192);
  expect(wanted?.(65_536)).toBe(65_536);
});
