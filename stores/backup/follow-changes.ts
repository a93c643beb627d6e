import { sleep } from '../../runtime/clock.ts';
import type { Clock } from '../../runtime/clock.ts';
import type { StoredChange, TenancyData } from '../tenancy-data.ts';
import { folders, nameOfMoment } from './backup-record.ts';
import { encodeSegment } from './change-segment.ts';
import type { ChangeRound } from './change-segment.ts';
import type { SealedFolder } from './sealed-folder.ts';

/** What following needs. */
export interface FollowParts {
  readonly data: Pick<TenancyData, 'changes'>;
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

/** How often changes are read from the datastore. In milliseconds. */
const lookMs = 1000;

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
  for (let isLast = false; ;) {
    const readAt = clock.now();
    const { changes, revision } = await data.changes(at);
    if (changes.length > 0) {
      if (rounds.length === 0) since = clock.monotonic();
      rounds.push({ at: clock.now().toISOString(), revision, changes });
      bytes += bytesOf(changes);
    }
    const isAtEnd = changes.length === 0 || revision === at;
    at = revision;
    if (bytes >= largestSegment || (rounds.length > 0 && clock.monotonic() - since >= writeMs)) await write();
    if (isAtEnd && rounds.length === 0) parts.reached?.(readAt);
    if (isLast) break;
    if (isAtEnd) await sleep(clock, lookMs, signal).catch(() => undefined);
    // What was written before the end is read once more.
    isLast = signal.aborted;
  }
  await write();
  return written;
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
