import { readFile } from 'node:fs/promises';

import { EndedProcess } from './ended-process.ts';

/** What a process uses, as the kernel counts it. */
export interface ProcessUsage {
  /** Resident memory in MiB, including pages of the program that several processes use. */
  readonly rssMiB: number;
  /** Resident memory that is its own, MiB. */
  readonly anonymousMiB: number;
  /** CPU time since its start, seconds. */
  readonly cpuSeconds: number;
}

/** Linux reports times to programs in hundredths of a second, regardless of the kernel's own tick. */
const ticksPerSecond = 100;

/**
 * Reads what a process uses from proc(5).
 * @throws EndedProcess when there is no such process.
 */
export async function readProcessUsage(pid: number): Promise<ProcessUsage> {
  const [status, stat] = await Promise.all(['status', 'stat'].map((file) => readOf(pid, file)));
  return parseProcessUsage(status ?? '', stat ?? '');
}

async function readOf(pid: number, file: string): Promise<string> {
  try {
    return await readFile(`/proc/${pid}/${file}`, 'utf8');
  } catch (error) {
    if (['ENOENT', 'ESRCH'].includes((error as NodeJS.ErrnoException).code ?? ''))
      throw new EndedProcess({ cause: error });
    throw error;
  }
}

/**
 * Takes usage from the texts of `/proc/<pid>/status` and `/proc/<pid>/stat`.
 * @throws EndedProcess when it has no memory, Error when another field is missing.
 */
export function parseProcessUsage(status: string, stat: string): ProcessUsage {
  if (!/^VmRSS:/m.test(status)) throw new EndedProcess();
  const mebibytes = (field: string): number => {
    const [, kibibytes] = new RegExp(`^${field}:\\s+(\\d+) kB$`, 'm').exec(status) ?? [];
    if (kibibytes === undefined) throw new Error(`/proc/<pid>/status has no ${field}`);
    return Number(kibibytes) / 1024;
  };
  const memory = { rssMiB: mebibytes('VmRSS'), anonymousMiB: mebibytes('RssAnon') };
  // The command name in parentheses may hold spaces; fields are counted after it: utime and stime are the 14th and 15th.
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  const ticks = Number(fields[11]) + Number(fields[12]);
  if (Number.isNaN(ticks)) throw new Error('/proc/<pid>/stat has no utime and stime');
  return { ...memory, cpuSeconds: ticks / ticksPerSecond };
}
