import { describe, expect, test } from '@jest/globals';

import type { Part } from './hardware-rows.ts';
import { sumOfParts, usageOfParts } from './usage-of-parts.ts';

describe('The usage of parts', () => {
  const usage = (pid: number, part: Part, cpuSeconds: number) => ({
    ...{ pid, part, cpuSeconds },
    ...{ rssMiB: 100, pssMiB: 80, anonymousMiB: 60 },
  });

  test('is the memory in the end, and the CPU time of each process in between', () => {
    const before = [usage(1, 'etcd', 5), usage(2, 'below', 7), usage(3, 'below', 100)];
    // Process 3 has ended, process 4 has begun.
    const after = [usage(1, 'etcd', 5.6), usage(2, 'below', 8), usage(4, 'below', 0.2)];
    const [etcd, below] = sumOfParts(before, after, 60);
    expect(etcd).toMatchObject({ part: 'etcd', processes: 1, rssMiB: 100, pssMiB: 80, anonymousMiB: 60, seconds: 60 });
    expect(etcd?.milliCpu).toBeCloseTo(10);
    expect(below).toMatchObject({ part: 'below', processes: 2, anonymousMiB: 120 });
    expect(below?.milliCpu).toBeCloseTo(20);
  });

  test('leaves out what has ended before it is looked at', async () => {
    const list = () =>
      Promise.resolve([{ pid: process.pid, part: 'etcd' } as const, { pid: 2 ** 22 + 1, part: 'below' } as const]);
    const found = await usageOfParts(list, { seconds: 0, signal: new AbortController().signal });
    expect(found.map(({ part, processes }) => [part, processes])).toEqual([['etcd', 1]]);
  });
});
