import { readFile } from 'node:fs/promises';

import { expect, test } from '@jest/globals';

import { freePorts } from './free-ports.ts';

test('free ports are different, and the kernel gives them to no connection', async () => {
  const [first = 0, last = 0] = (await readFile('/proc/sys/net/ipv4/ip_local_port_range', 'utf8'))
    .split('\t')
    .map(Number);

  const ports = await freePorts(50);

  expect(new Set(ports).size).toBe(50);
  expect(ports.filter((port) => port >= first && port <= last)).toEqual([]);
});
