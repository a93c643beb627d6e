import { spawn } from 'node:child_process';
import { createInterface } from 'node:readline';

import { expect, test } from '@jest/globals';

import { MovedClocks } from './moved-clocks.ts';

const canMove = process.platform === 'linux' && process.arch === 'x64' && process.getuid?.() === 0;
const night = 12 * 60 * 60;

/** Prints its clocks for each line, from several threads' point of view the same; `child` has a new process print its own. */
const program = `
const { spawn } = require('node:child_process');
const times = () => JSON.stringify({ now: Date.now(), monotonic: performance.timeOrigin + performance.now() });
require('node:readline').createInterface(process.stdin).on('line', (line) => {
  if (line !== 'child') return console.log(times());
  const late = 'setTimeout(() => console.log(JSON.stringify({ now: Date.now(), monotonic: 0 })), 300)';
  spawn(process.execPath, ['-e', late], { stdio: ['ignore', 'inherit', 'inherit'] });
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

  /** Seconds by which its clock is ahead of that of this process. */
  async ahead(line = ''): Promise<number> {
    const { now } = await this.ask(line);
    return Math.round((now - Date.now()) / 1000) + 0;
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
    expect(await clocks.forward(night)).toMatchObject({ moved: 1, busy: [] });
    expect(await teller.ahead()).toBe(night);
    expect(await teller.ahead('child')).toBe(night);
    await clocks.forward(-3600);
    expect([clocks.offset, await teller.ahead()]).toEqual([night - 3600, night - 3600]);
    const after = await teller.ask();
    expect(after.monotonic - before.monotonic).toBeLessThan(30_000);
  }
  expect(await teller.ahead()).toBe(0);
});
