import { readdir, readFile } from 'node:fs/promises';

/** One process, as proc(5) shows it. */
export interface TableProcess {
  readonly pid: number;
  readonly parent: number;
  /** Name of its program, at most 15 characters. */
  readonly name: string;
  /** CPU time since its start, and of its children that have ended, seconds. */
  readonly cpuSeconds: number;
}

/** Linux reports times to programs in hundredths of a second, regardless of the kernel's own tick. */
const ticksPerSecond = 100;

/** All processes of this host. */
export async function readProcesses(): Promise<readonly TableProcess[]> {
  const names = (await readdir('/proc')).filter((name) => /^\d+$/.test(name));
  const stats = await Promise.all(names.map((pid) => readIfThere(`/proc/${pid}/stat`)));
  return stats.flatMap((stat) => (stat === undefined ? [] : [parseStat(stat)]));
}

/** A process from the text of `/proc/<pid>/stat`. The name in parentheses may hold spaces; the fields are counted after it. */
export function parseStat(stat: string): TableProcess {
  const nameEnd = stat.lastIndexOf(')');
  const nameStart = stat.indexOf('(');
  const fields = stat.slice(nameEnd + 2).split(' ');
  const ticks = [11, 12, 13, 14].reduce((sum, at) => sum + Number(fields[at]), 0);
  return {
    pid: Number(stat.slice(0, nameStart)),
    parent: Number(fields[1]),
    name: stat.slice(nameStart + 1, nameEnd),
    cpuSeconds: ticks / ticksPerSecond,
  };
}

/** What comes from a process: its children, theirs, and so on. */
export function descendantsOf(root: number, processes: readonly TableProcess[]): readonly TableProcess[] {
  const children = Map.groupBy(processes, ({ parent }) => parent);
  const found: TableProcess[] = [];
  const open = [root];
  for (let pid = open.pop(); pid !== undefined; pid = open.pop())
    for (const child of children.get(pid) ?? []) {
      found.push(child);
      open.push(child.pid);
    }
  return found;
}

/** Memory of some processes, MiB: what several of them share is divided among them. */
export async function memoryOf(processes: readonly TableProcess[]): Promise<number> {
  let kibibytes = 0;
  for (const { pid } of processes) {
    const [, share = '0'] = /^Pss:\s+(\d+) kB$/m.exec((await readIfThere(`/proc/${pid}/smaps_rollup`)) ?? '') ?? [];
    kibibytes += Number(share);
  }
  return kibibytes / 1024;
}

/** A process may end between two looks. */
async function readIfThere(file: string): Promise<string | undefined> {
  try {
    return await readFile(file, 'utf8');
  } catch (error) {
    if (['ENOENT', 'ESRCH'].includes((error as NodeJS.ErrnoException).code ?? '')) return undefined;
    throw error;
  }
}
