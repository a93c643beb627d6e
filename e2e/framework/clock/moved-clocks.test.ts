import { spawn } from 'node:child_process';
import { createInterface } from 'node:readline';

import { expect, test } from '@jest/globals';

import { runCommand } from '../../cluster/machines/run-command.ts';
import { MovedClocks } from './moved-clocks.ts';

const canMove = process.platform === 'linux' && process.arch === 'x64' && process.getuid?.() === 0;
const minute = 60;
const night = 12 * 60 * minute;
const hourMs = 3_600_000;

/** By how many minutes a time is ahead of this process, without a sign for 0. */
const minutesAhead = (time: number): number => Math.round((time - Date.now()) / 60_000) + 0;

/** Prints its clock as soon as that is past a time, the first argument: a process that has only started has that of the machine for some milliseconds. */
const untilMoved =
  'const look = setInterval(() => { if (Date.now() > Number(process.argv[1])) { console.log(JSON.stringify({ now: Date.now(), monotonic: 0 })); clearInterval(look); } }, 5)';

/** Prints its clocks for each line; for a time, a new process prints its own once it is past that. */
const program = `
const { spawn } = require('node:child_process');
const times = () => JSON.stringify({ now: Date.now(), monotonic: performance.timeOrigin + performance.now() });
require('node:readline').createInterface(process.stdin).on('line', (line) => {
  if (line === '') return console.log(times());
  spawn(process.execPath, ['-e', ${JSON.stringify(untilMoved)}, line], { stdio: ['ignore', 'inherit', 'inherit'] });
});
setInterval(() => Date.now(), 1);
process.stdin.on('end', () => process.exit());
`;

interface Times {
  readonly now: number;
  readonly monotonic: number;
}

/** A program that says which time it has. */
class Teller implements AsyncDisposable {
  readonly #child = spawn(process.execPath, ['-e', program], { stdio: ['pipe', 'pipe', 'inherit'] });
  readonly #lines = createInterface(this.#child.stdout)[Symbol.asyncIterator]();

  get pid(): number {
    return this.#child.pid ?? 0;
  }

  async ask(line = ''): Promise<Times> {
    this.#child.stdin.write(`${line}\n`);
    const { value } = await this.#lines.next();
    return JSON.parse(String(value)) as Times;
  }

  /** By how many minutes its clock is ahead of that of this process; whatever takes seconds on a busy machine does not matter. */
  async ahead(line = ''): Promise<number> {
    const { now } = await this.ask(line);
    return minutesAhead(now);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    const ended = new Promise((resolve) => this.#child.once('exit', resolve));
    this.#child.stdin.end();
    await ended;
  }
}

(canMove ? test : test.skip)('the clock of a process and of what it starts moves, and no other', async () => {
  await using teller = new Teller();
  const before = await teller.ask();
  {
    await using clocks = await MovedClocks.start({ harness: 'none', roots: [teller.pid] });
    expect(await teller.ahead()).toBe(0);
    expect(await clocks.forward(night)).toMatchObject({ moved: 1 });
    expect(await teller.ahead()).toBe(night / minute);
    expect(await teller.ahead(String(before.now + hourMs))).toBe(night / minute);
    await clocks.forward(-3600);
    expect([clocks.offset, await teller.ahead()]).toEqual([night - 3600, night / minute - 60]);
    const after = await teller.ask();
    expect(after.monotonic - before.monotonic).toBeLessThan(30_000);
  }
  expect(await teller.ahead()).toBe(0);
});

(canMove ? test : test.skip)(
  'a command that enters namespaces ends: its parent would stop if it were stopped',
  async () => {
    await using clocks = await MovedClocks.start({ harness: 'none', roots: [process.pid] });
    const [wall, monotonic] = [Date.now(), performance.now()];
    await clocks.forward(night);
    const moved = Date.now() - wall - (performance.now() - monotonic);
    expect(Math.round(moved / 60_000)).toBe(night / minute);
    const args = ['-t', String(process.pid), '-p', '--', process.execPath, '-e', untilMoved, String(wall + hourMs)];
    const { stdout } = await runCommand('nsenter', args, { timeoutMs: 10_000 });
    expect(minutesAhead((JSON.parse(stdout) as Times).now)).toBe(0);
  },
);
