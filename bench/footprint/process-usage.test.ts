import { spawn } from 'node:child_process';
import { once } from 'node:events';

import { expect, test } from '@jest/globals';

import { EndedProcess } from './ended-process.ts';
import { parseProcessUsage, readProcessUsage } from './process-usage.ts';

const stat = `7 (a (b) c) S ${Array.from({ length: 49 }, (_, index) => index).join(' ')}`;

test('usage is read from what the kernel says', () => {
  const status = 'Name:\ta\nVmRSS:\t    2048 kB\nRssAnon:\t    1024 kB\n';
  // The 14th and the 15th field.
  expect(parseProcessUsage(status, stat)).toEqual({ rssMiB: 2, anonymousMiB: 1, cpuSeconds: 0.21 });
  expect(() => parseProcessUsage('VmRSS:\t 1 kB\n', stat)).toThrow('has no RssAnon');
});

test('a process that is killed while it is looked at has ended', async () => {
  // As the kernel shows it until its parent has heard of it.
  expect(() => parseProcessUsage('Name:\ta\nState:\tZ (zombie)\n', stat)).toThrow(EndedProcess);
  const child = spawn('true');
  await once(child, 'exit');
  await expect(readProcessUsage(child.pid ?? 0)).rejects.toThrow(EndedProcess);
});
