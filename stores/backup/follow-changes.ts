import { sleep } from '../../runtime/clock.ts';
import type { Clock } from '../../runtime/clock.ts';
import type { StoredChange, TenancyData } from '../tenancy-data.ts';
import { folders, nameOfMoment } from './backup-record.ts';
import { encodeSegment } from './change-segment.ts';
import type { ChangeRound } from './change-segment.ts';
import type { SealedFolder } from './sealed-folder.ts';

/** What following needs. */
export interface FollowParts {
  readonly data: Pick<TenancyData, 'revision' | 'changes'>;
  readonly folder: SealedFolder;
  readonly clock: Clock;
  readonly run: string;
  /**
   * Called after changes were read and before they are written; throws if they may be those of its end: the removal of the data of a
   * control plane must not become a part of its backup.
   */
  readonly check?: () => Promise<void>;
  /** Called when all changes up to a moment are in the repository. */
  readonly reached?: (moment: Date) => void;
  /** Ends following: what has happened so far is written, and the call returns. */
  readonly signal: AbortSignal;
}

/** Changes are read from the datastore at each whole second: those are the moments that can be restored exactly. In milliseconds. */
const lookMs = 1000;

/** The revision of a whole second is known so soon after it. A later one is that of a later moment. In milliseconds. */
const promptMs = 100;

/** Changes are in the repository so many milliseconds after they were read. */
const writeMs = 4000;

/** A file is written at the latest when its changes are so large. */
const largestSegment = 8 * 1024 * 1024;

/**
 * Writes every change after a revision into the repository, some seconds later, until the signal is aborted. Returns the revision up to
 * which the repository has all changes. Throws what datastore and repository throw; `CompactedError` when changes were forgotten before
 * they were read, after which only a new backup helps.
 */
export async function followChanges(parts: FollowParts, from: bigint): Promise<bigint> {
  const { data, clock, signal } = parts;
  let written = from;
  let at = from;
  let rounds: ChangeRound[] = [];
  let bytes = 0;
  let since = clock.monotonic();
  const write = async (): Promise<void> => {
    const last = rounds.at(-1);
    if (last !== undefined) {
      await parts.check?.();
      await writeSegment(parts, written, rounds);
      // Not what was read last: others make revisions, too, and the next file has to begin where this one ends.
      written = last.revision;
    }
    [rounds, bytes, since] = [[], 0, clock.monotonic()];
  };
  for (let isLast = false, second: number | undefined; ;) {
    const { moment, revision: goal } = await revisionNow(parts, second);
    while (at < goal) {
      const { changes, revision } = await data.changes(at, goal);
      // Revisions of nobody's changes may remain.
      if (revision === at) break;
      at = revision;
      if (changes.length === 0) continue;
      if (rounds.length === 0) since = clock.monotonic();
      rounds.push({ at: moment.toISOString(), revision, changes });
      bytes += bytesOf(changes);
      if (bytes >= largestSegment) await write();
    }
    if (rounds.length > 0 && clock.monotonic() - since >= writeMs) await write();
    if (rounds.length === 0) parts.reached?.(moment);
    if (isLast) break;
    second = await nextSecond(clock, signal);
    // What was written before the end is read once more.
    isLast = signal.aborted;
  }
  await write();
  return written;
}

/**
 * The revision of the datastore now, and the moment that it belongs to: all that was acknowledged before is contained, and nothing that was
 * written later. `second` is the whole second that has just begun.
 */
async function revisionNow(
  { data, clock }: Pick<FollowParts, 'data' | 'clock'>,
  second: number | undefined,
): Promise<{ readonly moment: Date; readonly revision: bigint }> {
  const revision = await data.revision();
  const answered = clock.now().getTime();
  const isPrompt = second !== undefined && answered - second <= promptMs;
  return { moment: new Date(isPrompt ? second : answered), revision };
}

/** Resolves at the next whole second, with that, or with undefined when the signal is aborted. */
async function nextSecond(clock: Clock, signal: AbortSignal): Promise<number | undefined> {
  const next = (Math.floor(clock.now().getTime() / lookMs) + 1) * lookMs;
  // A timer may be early by the clock that people see, which may also jump.
  for (let left = lookMs; left > 0;) {
    if (signal.aborted) return undefined;
    left = next - clock.now().getTime();
    // An abort ends the wait; the next turn sees it.
    if (left > 0) await sleep(clock, Math.min(left, lookMs), signal).catch(() => undefined);
  }
  return next;
}

async function writeSegment(
  { folder, run }: FollowParts,
  after: bigint,
  rounds: readonly ChangeRound[],
): Promise<void> {
  const [first] = rounds;
  if (first === undefined) return;
  await folder.write(`${folders.changes}${run}/${nameOfMoment(first.at)}-${after}`, encodeSegment({ after, rounds }));
}

function bytesOf(changes: readonly StoredChange[]): number {
  return changes.reduce((sum, change) => sum + (change.is === 'put' ? change.entry.value.length : 0) + 100, 0);
}
