import { readFileSync, readdirSync } from 'node:fs';

import { isEnded } from './process-memory.ts';

/** So often is looked whether a process rests, a millisecond apart. */
const mostLooks = 20;

const moment = new Int32Array(new SharedArrayBuffer(4));

/**
 * Waits for some milliseconds until all threads of a process wait for something in the kernel, and will continue at addresses that are allowed.
 * @returns whether they do.
 */
export function waitForRest(pid: number, isAllowed: (address: number) => boolean): boolean {
  for (let look = 0; look < mostLooks; look += 1) {
    if (addressesAtRest(pid)?.every(isAllowed) === true) return true;
    Atomics.wait(moment, 0, 0, 1);
  }
  return false;
}

/** Where each thread will continue (proc_pid_syscall(5)); undefined while one of them runs. */
function addressesAtRest(pid: number): readonly number[] | undefined {
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
