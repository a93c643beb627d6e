import { readFile } from 'node:fs/promises';

import { isMissing } from './is-missing.ts';

/** A process that cannot be mistaken for a later one with the same id. */
export interface ProcessIdentity {
  readonly pid: number;
  /** Field 22 of proc(5)'s stat: clock ticks from boot to the start of the process. */
  readonly startTime: string;
}

/** Identity of a running process; undefined when there is none with this id, or only its zombie. */
export async function identifyProcess(pid: number): Promise<ProcessIdentity | undefined> {
  try {
    const stat = await readFile(`/proc/${pid}/stat`, 'utf8');
    // The command name in parentheses may hold spaces; fields are counted after it.
    const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
    const startTime = fields[19];
    return fields[0] === 'Z' || startTime === undefined ? undefined : { pid, startTime };
  } catch (error) {
    if (isMissing(error)) return undefined;
    throw error;
  }
}

/** Whether this very process still runs. */
export async function isAlive(identity: ProcessIdentity): Promise<boolean> {
  return (await identifyProcess(identity.pid))?.startTime === identity.startTime;
}
