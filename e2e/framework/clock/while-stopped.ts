import { readFileSync, readdirSync } from 'node:fs';

import { isEnded } from './process-memory.ts';

/** So often is looked whether the threads of a process have stopped, a millisecond apart. */
const mostLooks = 50;

const moment = new Int32Array(new SharedArrayBuffer(4));

/**
 * Stops all threads of a process (SIGSTOP), does something with it, and lets them continue. Nothing is done if a thread does not stop in time or
 * stopped at an address at which it must not, or if somebody else had stopped the process.
 * @returns whether it was done.
 */
export function whileStopped(pid: number, isAllowed: (address: number) => boolean, work: () => void): boolean {
  if (isStoppedByOthers(pid)) return false;
  process.kill(pid, 'SIGSTOP');
  try {
    for (let look = 0; look < mostLooks; look += 1) {
      const addresses = stoppedAt(pid);
      if (addresses?.every(isAllowed) === true) {
        work();
        return true;
      }
      if (addresses !== undefined) return false;
      Atomics.wait(moment, 0, 0, 1);
    }
    return false;
  } finally {
    process.kill(pid, 'SIGCONT');
  }
}

function isStoppedByOthers(pid: number): boolean {
  const stat = readFileSync(`/proc/${pid}/stat`, 'latin1');
  return /^[TtZX]/.test(stat.slice(stat.lastIndexOf(')') + 2));
}

/** Where each thread stands (proc_pid_syscall(5)); undefined while one of them runs. */
function stoppedAt(pid: number): readonly number[] | undefined {
  const addresses: number[] = [];
  for (const thread of readdirSync(`/proc/${pid}/task`)) {
    const text = readThread(pid, thread);
    if (text === undefined) continue;
    if (text.startsWith('running')) return undefined;
    addresses.push(Number(text.trim().split(' ').at(-1)));
  }
  return addresses;
}

/** Undefined if the thread has ended since it was listed. */
function readThread(pid: number, thread: string): string | undefined {
  try {
    return readFileSync(`/proc/${pid}/task/${thread}/syscall`, 'latin1');
  } catch (error) {
    if (isEnded(error)) return undefined;
    throw error;
  }
}
