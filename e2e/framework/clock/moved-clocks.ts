import { spawn } from 'node:child_process';
import type { ChildProcessByStdio } from 'node:child_process';
import { once } from 'node:events';
import path from 'node:path';
import { createInterface } from 'node:readline';
import type { Readable, Writable } from 'node:stream';

import { cgroupName } from '../../cluster/machines/cgroup-plan.ts';

/** What was moved. */
export interface MovedProcesses {
  /** How many processes have the new time. */
  readonly moved: number;
  /** How long it took until all of them had it, in milliseconds. */
  readonly ms: number;
}

/** Whose clocks are moved. */
export interface MovedClocksOptions {
  /** All processes of its machines, those of their pods included. */
  readonly harness: string;
  /** These processes too, and what they start. This one unless said, so that `Date.now()` is the time of the machines. */
  readonly roots?: readonly number[];
}

/**
 * Moves the clocks of real processes, and not that of this machine, on which others work. A process of its own watches for processes that start, and moves
 * their clocks some milliseconds after their exec. Disposing moves all back that still run. Needs root, Linux and x86-64.
 *
 * Only the clock on the wall moves, as when somebody sets the clock of a machine. Monotonic clocks and all that waits by them do not: timers,
 * leader elections, and the difference of two times of Go that one process has read. So this shows what becomes of certificates, tokens,
 * schedules and times in objects after a night, and that a jump of the clock does no harm. It does not show what wears out in hours of running, and
 * what looks again after hours of its own has to be reminded. Also not moved are what the kernel writes itself, such as the times of files and of starts of
 * processes, and what a program reads in its first milliseconds: that is enough for `date` to print the time of this machine.
 */
export class MovedClocks implements AsyncDisposable {
  readonly #child: ChildProcessByStdio<Writable, Readable, null>;
  readonly #answers: AsyncIterator<string>;
  #offset = 0;

  private constructor(child: ChildProcessByStdio<Writable, Readable, null>) {
    this.#child = child;
    // If it has ended, its missing answer says so.
    child.stdin.on('error', () => undefined);
    this.#answers = createInterface(child.stdout)[Symbol.asyncIterator]();
  }

  /** Resolves when the clocks of all processes can be moved at once. */
  static async start({ harness, roots = [process.pid] }: MovedClocksOptions): Promise<MovedClocks> {
    const main = path.join(import.meta.dirname, 'main.ts');
    const args = ['--cgroup', cgroupName(harness, ''), ...roots.flatMap((pid) => ['--root', String(pid)])];
    const child = spawn(process.execPath, [main, ...args], { stdio: ['pipe', 'pipe', 'inherit'] });
    await once(child, 'spawn');
    const clocks = new MovedClocks(child);
    try {
      await clocks.moveTo(0);
    } catch (error) {
      await clocks[Symbol.asyncDispose]();
      throw error;
    }
    return clocks;
  }

  /** Seconds from the clock of this machine. */
  get offset(): number {
    return this.#offset;
  }

  /** Moves them by so many seconds. */
  forward(seconds: number): Promise<MovedProcesses> {
    return this.moveTo(this.#offset + seconds);
  }

  /** Moves them to so many seconds from the clock of this machine. */
  async moveTo(offset: number): Promise<MovedProcesses> {
    this.#child.stdin.write(`${offset}\n`);
    const answer = await this.#answers.next();
    if (answer.done === true) throw new Error('The process that moves clocks has ended; see its output.');
    const result = JSON.parse(answer.value) as MovedProcesses;
    if (result.moved === 0) throw new Error('No clock was moved: the vDSO of no process could be written.');
    this.#offset = offset;
    return result;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    const { exitCode, signalCode } = this.#child;
    if (exitCode === null && signalCode === null) {
      const ended = once(this.#child, 'exit');
      this.#child.stdin.end();
      await ended;
    }
    if (this.#child.exitCode !== 0)
      throw new Error('The process that moves clocks has failed; see its output. Clocks may be left ahead.');
  }
}
