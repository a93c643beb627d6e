import { readFileSync, writeFileSync } from 'node:fs';
import type { Clock } from '../../runtime/clock.ts';
import { systemClock } from '../../runtime/clock.ts';
import { failureCode } from '../../runtime/observe/describe-failure.ts';

/** Milliseconds between two checks: a process can fill some tens of MiB in between. */
const everyMs = 20;
/** Failed checks in a row that are tolerated: file descriptors may be short for a moment. */
const mostUnseen = 25;

/** The memory bound of a process and its callbacks. At most one of the two is called, once; none when the process ends. */
export interface MemoryBound {
  readonly maxBytes: number;
  readonly exceeded: () => void;
  /** The memory of the running process could not be read for half a second, so it is no longer bounded. */
  readonly unseen: (why: string) => void;
}

/** The clock and the files that the watch uses. */
export interface MemorySight {
  readonly clock: Clock;
  readonly read: (path: string) => string;
  readonly write: (path: string, text: string) => void;
}

/**
 * Reports when a child process holds more than so many bytes of private memory; mapped files, such as its program, do not count.
 * The returned function ends the watch.
 *
 * Node cannot limit a process that it starts. prlimit(1) and a shell with ulimit are not in a distroless image, and they would bound
 * the address space, of which Go reserves a lot. A separate cgroup needs privileges that a pod does not have, and GOMEMLIMIT is only
 * a soft limit. So the kernel's count is polled. If the kernel runs out of memory first, the child is the first to be killed.
 * Systems other than Linux have no /proc, and nothing is watched there.
 */
export function watchMemory(pid: number, bound: MemoryBound, sight: MemorySight | undefined = sightHere()): () => void {
  if (sight === undefined) return () => undefined;
  preferAsVictim(pid, sight.write);
  let unseen = 0;
  const look = (): void => {
    const seen = ownMemory(pid, sight.read);
    if (seen.is === 'gone') return;
    unseen = seen.is === 'unseen' ? unseen + 1 : 0;
    if (seen.is === 'unseen' && unseen >= mostUnseen) bound.unseen(seen.why);
    else if (seen.is === 'held' && seen.bytes > bound.maxBytes) bound.exceeded();
    else timer = sight.clock.after(everyMs, look);
  };
  let timer = sight.clock.after(everyMs, look);
  return () => {
    timer.cancel();
  };
}

const sightHere = (): MemorySight | undefined =>
  process.platform === 'linux'
    ? { clock: systemClock, read: (path) => readFileSync(path, 'latin1'), write: writeFileSync }
    : undefined;

type Seen =
  | { readonly is: 'held'; readonly bytes: number }
  | { readonly is: 'gone' }
  | { readonly is: 'unseen'; readonly why: string };

/** In kB and not in pages, whose size differs among machines (proc_pid_status(5)). */
function ownMemory(pid: number, read: MemorySight['read']): Seen {
  const path = `/proc/${pid}/status`;
  try {
    const text = read(path);
    // Kernels that do not report RssAnon, such as gVisor's, count mapped files too.
    const [, kilobytes] = /^RssAnon:\s+(\d+) kB$/m.exec(text) ?? /^VmRSS:\s+(\d+) kB$/m.exec(text) ?? [];
    if (kilobytes !== undefined) return { is: 'held', bytes: Number(kilobytes) * 1024 };
    // A zombie holds no memory.
    return /^State:\s+[ZX]/m.test(text)
      ? { is: 'gone' }
      : { is: 'unseen', why: `${path} has neither RssAnon nor VmRSS` };
  } catch (error) {
    const code = failureCode(error);
    if (code === 'ESRCH') return { is: 'gone' };
    if (code === 'ENOENT') return isProcThere(read) ? { is: 'gone' } : { is: 'unseen', why: 'there is no /proc' };
    return { is: 'unseen', why: error instanceof Error ? error.message : String(error) };
  }
}

function isProcThere(read: MemorySight['read']): boolean {
  try {
    return read('/proc/self/status') !== '';
  } catch {
    return false;
  }
}

/** Raising the score needs no privileges (proc_pid_oom_score_adj(5)). */
function preferAsVictim(pid: number, write: MemorySight['write']): void {
  try {
    write(`/proc/${pid}/oom_score_adj`, '1000');
  } catch {
    // It has ended, or the kernel does not let us.
  }
}
