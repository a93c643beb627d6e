import { expect, test } from '@jest/globals';
import { runGroup } from './process-group.ts';
import type { GroupOptions } from './process-group.ts';

/** Runs this text as a program of node. */
async function run(text: string, options: Partial<GroupOptions> = {}): Promise<number> {
  return runGroup({
    program: process.execPath,
    programArguments: ['--eval', text],
    environment: process.env,
    onMessage: () => undefined,
    signal: new AbortController().signal,
    graceMs: 10_000,
    ...options,
  });
}

function isAlive(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch {
    return false;
  }
}

test('a program that ends by itself is noticed, and its exit code is returned', async () => {
  const heard: unknown[] = [];
  const onMessage = (message: unknown): void => void heard.push(message);
  expect(await run('process.send({ is: "began" }, () => process.exit(3))', { onMessage })).toBe(3);
  expect(heard).toEqual([{ is: 'began' }]);
});

test('a program that a signal ends has the exit code that a shell reports', async () => {
  expect(await run('process.kill(process.pid, "SIGKILL")')).toBe(137);
});

const hangs = 'setInterval(() => undefined, 1000);';
const withChild = `const { spawn } = require('node:child_process');
  const child = spawn(process.execPath, ['--eval', ${JSON.stringify(hangs)}], { stdio: 'ignore' });
  child.once('spawn', () => process.send(child.pid)); ${hangs}`;

test('a program that hangs is ended with its children', async () => {
  const end = new AbortController();
  let child = 0;
  const onMessage = (pid: unknown): void => {
    child = Number(pid);
    end.abort();
  };
  expect(await run(withChild, { onMessage, signal: end.signal })).not.toBe(0);
  expect(isAlive(child)).toBe(false);
});

test('a program that ignores SIGTERM is killed after its grace period', async () => {
  const end = new AbortController();
  const stubborn = `process.on('SIGTERM', () => process.send('heard')); process.send('begun'); ${hangs}`;
  const heard: unknown[] = [];
  const onMessage = (message: unknown): void => {
    heard.push(message);
    end.abort();
  };
  expect(await run(stubborn, { onMessage, signal: end.signal, graceMs: 3000 })).not.toBe(0);
  expect(heard).toContain('heard');
});
