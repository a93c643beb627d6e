import { readFileSync, readdirSync } from 'node:fs';

import { clockPatch } from './clock-patch.ts';
import type { ClockMove } from './move-process.ts';
import { moveProcess } from './move-process.ts';
import { isEnded, ownVdsoImage, vdsoAddress } from './process-memory.ts';

/** A process that was seen. */
interface SeenProcess {
  /** When it was seen first, by the monotonic clock in milliseconds. */
  readonly since: number;
  /** Undefined while it is young and nothing says that its clock is to be moved. */
  isWanted: boolean | undefined;
  /** Of the vDSO that was changed. An exec maps another one. */
  address?: number;
  /** How often it did not wait for anything when its clock was to be moved. */
  busy: number;
}

/** Which processes have their clocks moved. */
export interface ClockScope {
  /** Those in cgroups with this in their path. */
  readonly cgroup: string;
  /** These, and those that they start. */
  readonly roots: readonly number[];
}

/** A process may get into its cgroup, and call exec, for so long after it was seen first: it is looked at each time. */
const youngMs = 3000;

/** A process that was busy as often as this is not waited for. */
const mostBusy = 25;

/** Moves the clocks of processes, also of those that start later. What is not 64 bits of x86-64 stays as it is. */
export class ClockWatch {
  readonly #scope: ClockScope;
  readonly #seen = new Map<number, SeenProcess>();
  #move: ClockMove;
  /** Whether what it sees for the first time has started since. */
  #isStarted = false;

  constructor(scope: ClockScope) {
    this.#scope = scope;
    const image = ownVdsoImage();
    this.#move = { image, patch: clockPatch(image), offset: 0 };
  }

  /** Moves all of them to so many seconds from the clock of this machine. */
  moveTo(offset: number): void {
    this.#move = { ...this.#move, offset };
    for (const [pid, seen] of this.#seen) if (seen.address !== undefined) this.#apply(pid, seen, seen.address);
    do this.look('all');
    while (this.#isBusy());
    this.#isStarted = true;
  }

  /** Looks for processes that have started; `all` also looks whether older ones run another program now. */
  look(which: 'young' | 'all'): void {
    const now = performance.now();
    const pids = readdirSync('/proc').flatMap((entry) => (/^\d/.test(entry) ? [Number(entry)] : []));
    for (const pid of pids) {
      let seen = this.#seen.get(pid);
      if (seen === undefined) {
        seen = { since: now, isWanted: undefined, busy: 0 };
        this.#seen.set(pid, seen);
      } else if (which === 'young' && now - seen.since > youngMs) {
        continue;
      }
      this.#lookAt(pid, seen, now);
    }
    const there = new Set(pids);
    for (const pid of this.#seen.keys())
      if (!there.has(pid)) {
        this.#seen.delete(pid);
      }
  }

  /** How many processes have their clock moved. */
  moved(): number {
    return [...this.#seen.values()].filter(({ address }) => address !== undefined).length;
  }

  #lookAt(pid: number, seen: SeenProcess, now: number): void {
    if (seen.isWanted !== true) {
      if (seen.isWanted === false) return;
      if (this.#isInScope(pid)) seen.isWanted = true;
      else if (now - seen.since > youngMs) seen.isWanted = false;
      if (seen.isWanted !== true) return;
    }
    const address = vdsoAddress(pid);
    if (address !== undefined && address !== seen.address) this.#apply(pid, seen, address);
  }

  #apply(pid: number, seen: SeenProcess, address: number): void {
    const isYoung = this.#isStarted && performance.now() - seen.since < youngMs;
    const result = moveProcess(pid, address, { ...this.#move, mayRun: isYoung || seen.busy >= mostBusy });
    seen.busy = result === 'Busy' ? seen.busy + 1 : 0;
    if (result === 'Moved') seen.address = address;
    else delete seen.address;
  }

  /** Whether the clock of one that runs has not been moved yet, because it is busy. */
  #isBusy(): boolean {
    return [...this.#seen.values()].some(({ busy }) => busy > 0);
  }

  #isInScope(pid: number): boolean {
    if (pid === process.pid) return false;
    return textOf(`/proc/${pid}/cgroup`).includes(this.#scope.cgroup) || this.#isBelowRoot(pid);
  }

  #isBelowRoot(pid: number): boolean {
    for (let at = pid; at > 1; at = parentOf(at)) {
      if (at === process.pid) return false;
      if (this.#scope.roots.includes(at)) return true;
      // Its parent was decided about already.
      if (at !== pid && this.#seen.get(at)?.isWanted === true) return true;
    }
    return false;
  }
}

function parentOf(pid: number): number {
  const stat = textOf(`/proc/${pid}/stat`);
  return Number(stat.slice(stat.lastIndexOf(')') + 2).split(' ')[1] ?? 0);
}

/** Empty if the process has ended. */
function textOf(file: string): string {
  try {
    return readFileSync(file, 'latin1');
  } catch (error) {
    if (isEnded(error)) return '';
    throw error;
  }
}
