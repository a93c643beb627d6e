import { expect, test } from '@jest/globals';
import { systemWorld, wantsColors } from './system-world.ts';

test.each([
  [true, {}, true],
  [false, {}, false],
  [true, { NO_COLOR: '1' }, false],
  [true, { NO_COLOR: '' }, true],
  [true, { TERM: 'dumb' }, false],
])('with a terminal: %p and %j, colors are wanted: %p', (isTerminal, environment, expected) => {
  expect(wantsColors(isTerminal, environment)).toBe(expected);
});

const world = systemWorld(new AbortController().signal);
const program = (command: string, ...args: readonly string[]) => ({ command, args, environment: { REGION: 'x' } });
const running = new AbortController().signal;

test('a credential program gets its variables, and what it prints is returned', async () => {
  expect(await world.runCredentialProgram(program('sh', '-c', 'echo "$REGION $HOME"'), running)).toBe(
    `x ${process.env.HOME ?? ''}\n`,
  );
});

test.each([
  [
    'no-such-program-anywhere',
    [],
    'kubeconfig: exec: no-such-program-anywhere is not installed; run it yourself to see why',
  ],
  ['sh', ['-c', 'echo secret; exit 7'], 'kubeconfig: exec: sh ended with exit code 7; run it yourself to see why'],
])('a failure of %s is explained without its output', async (command, args, message) => {
  await expect(world.runCredentialProgram(program(command, ...args), running)).rejects.toThrow(message);
});

test('a credential program ends with the command', async () => {
  const stop = new AbortController();
  const waiting = world.runCredentialProgram(program('sleep', '600'), stop.signal);
  stop.abort(new Error('time is up'));
  await expect(waiting).rejects.toThrow('time is up');
});
