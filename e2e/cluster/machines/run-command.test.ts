import { expect, test } from '@jest/globals';

import { slowness } from '../slowness.ts';
import { identifyProcess, isAlive } from './process-identity.ts';
import { CommandError, lastLines, runCommand, tryCommand } from './run-command.ts';

test('a command gets its input, and its output is returned in pieces and as a whole', async () => {
  const pieces: string[] = [];
  const { stdout } = await runCommand('cat', [], { input: 'hello', onOutput: (piece) => pieces.push(piece) });
  expect([stdout, pieces.join('')]).toEqual(['hello', 'hello']);
});

test('a failure is an error with the last lines and the added diagnosis', async () => {
  const failing = runCommand('sh', ['-c', 'echo out; echo reason >&2; exit 3'], {
    title: 'the thing',
    diagnose: () => Promise.resolve('log of what stalled'),
  });
  await expect(failing).rejects.toThrow(CommandError);
  await expect(failing).rejects.toThrow(/^the thing: exited with code 3\nout\nreason\nlog of what stalled$/);
  expect((await tryCommand('sh', ['-c', 'exit 3'])).code).toBe(3);
});

test('a command that takes too long is killed with everything it started', async () => {
  let child = 0;
  const stalled = runCommand('sh', ['-c', 'sleep 100 & echo $!; wait'], {
    timeoutMs: 3_000,
    onOutput: (piece) => {
      child = Number(piece);
    },
  });
  await expect(stalled).rejects.toThrow(`killed because it had not finished after ${3 * slowness()} s`);
  expect(child).toBeGreaterThan(0);
  expect(await identifyProcess(child)).toBeUndefined();
});

test('an abort kills the command', async () => {
  const controller = new AbortController();
  const waiting = runCommand('sh', ['-c', 'echo started; sleep 100'], {
    signal: controller.signal,
    onOutput: () => {
      controller.abort();
    },
  });
  await expect(waiting).rejects.toThrow(/aborted/);
});

test('a program that does not exist is reported by name', async () => {
  await expect(runCommand('/no/such/program', [])).rejects.toThrow(/\/no\/such\/program cannot be started/);
});

test('a process is not mistaken for an earlier one with its id', async () => {
  const self = await identifyProcess(process.pid);
  expect(self !== undefined && (await isAlive(self))).toBe(true);
  expect(await isAlive({ pid: process.pid, startTime: '1' })).toBe(false);
});

test('the last lines leave out empty ones', () => {
  expect(lastLines('a\n\nb\n \nc\n', 2)).toBe('b\nc');
});
