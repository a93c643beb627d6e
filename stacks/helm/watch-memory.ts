import { readFileSync, writeFileSync } from 'node:fs';
import type { Clock } from '../../runtime/clock.ts';
import { systemClock } from '../../runtime/clock.ts';
import { failureCode } from '../../runtime/describe-failure.ts';

/** How often is looked, in milliseconds: a process fills some tens of MiB between two looks. */
const everyMs = 20;
/** Looks in a row that may see nothing: what is short of file descriptors for a moment is not blind. */
const mostUnseen = 25;

/** What a process may hold, and who is told what becomes of it. One of the two is told, once; none when the process ends. */
export interface MemoryBound {
  readonly maxBytes: number;
  readonly exceeded: () => void;
  /** For half a second nothing was seen of the process, which lives: it would be unbounded from now on. */
  readonly unseen: (why: string) => void;
}

/** What the watch sees and acts with. */
export interface MemorySight {
  readonly clock: Clock;
  readonly read: (path: string) => string;
  readonly write: (path: string, text: string) => void;
}

/**
 * Tells once a child process holds more than so many bytes of memory of its own; files that it maps, its program among
 * them, do not count. The returned function ends the watch.
 *
 * Node cannot set limits of a process it starts; prlimit(1) and a shell with ulimit are in no distroless image; the address space,
 * which they would bound, is something that Go reserves at great length; a control group of its own takes rights that a pod has
 * not; and GOMEMLIMIT is a wish. So the memory is looked at, as the kernel counts it. Should the kernel be faster, the child is what
 * it is asked to end first. Other systems than Linux have no /proc, and nothing is watched there.
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
    // Kernels that do not tell its parts, such as gVisor's, count mapped files too.
    const [, kilobytes] = /^RssAnon:\s+(\d+) kB$/m.exec(text) ?? /^VmRSS:\s+(\d+) kB$/m.exec(text) ?? [];
    if (kilobytes !== undefined) return { is: 'held', bytes: Number(kilobytes) * 1024 };
    // What has ended and was not waited for yet holds nothing.
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

/** Raising it is anybody's right (proc_pid_oom_score_adj(5)). */
function preferAsVictim(pid: number, write: MemorySight['write']): void {
  try {
    write(`/proc/${pid}/oom_score_adj`, '1000');
  } catch {
    // It has ended, or the kernel does not let us.
  }
}
