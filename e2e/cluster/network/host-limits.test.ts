import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { availableParallelism, tmpdir } from 'node:os';
import path from 'node:path';

import { expect, test } from '@jest/globals';

import { connections, hostLimits, rememberOnce } from './host-limits.ts';

test.each([
  [1, 131_072],
  [2, 131_072],
  [4, 131_072],
  [16, 524_288],
])('kube-proxy with %d cores sets %d connections', (cores, limit) => {
  expect(connections(cores)).toBe(limit);
});

test('a host that tracks more connections than kube-proxy sets is lowered meanwhile, because kube-proxy fails at any other number', () => {
  const { wanted } = hostLimits.find(({ name }) => name === 'net.netfilter.nf_conntrack_max') ?? {};
  const asked = connections(availableParallelism());
  expect([wanted?.(asked - 1), wanted?.(asked), wanted?.(asked * 4)]).toEqual([asked, asked, asked]);
});

test('a host that allows more inotify watches than machines need keeps its limit', () => {
  const { wanted } = hostLimits.find(({ name }) => name === 'fs.inotify.max_user_instances') ?? {};
  expect(wanted?.(128)).toBe(8192);
  expect(wanted?.(65_536)).toBe(65_536);
});

test('the first of two harnesses that start together records the host’s own limit', async () => {
  const folder = await mkdtemp(path.join(tmpdir(), 'limits-'));
  const file = path.join(folder, '.nf_conntrack_max');
  await rememberOnce(file, '65536');
  await rememberOnce(file, '131072');
  expect(await readFile(file, 'utf8')).toBe('65536');
  await rm(folder, { recursive: true });
});
