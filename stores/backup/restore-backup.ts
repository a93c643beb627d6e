import { ContentFingerprint, entryDigest } from '../migration/content-fingerprint.ts';
import { differences } from '../migration/differences.ts';
import type { Pair } from '../migration/differences.ts';
import type { ChangedKeys } from '../migration/verification.ts';
import type { StoredChange, StoredEntry, TenancyData } from '../tenancy-data.ts';
import { longestPage } from '../tenancy-data.ts';
import { folders } from './backup-record.ts';
import type { BackupRecord } from './backup-record.ts';
import { RepositoryError } from './backup-repository.ts';
import { decodeEntries } from './change-coding.ts';
import { decodeSegment } from './change-segment.ts';
import type { ChangeRound } from './change-segment.ts';
import { lastRevision, readBackups } from './kept-backups.ts';
import type { SealedFolder } from './sealed-folder.ts';

/** What a restore needs. */
export interface RestoreParts {
  /** The tenancy that is made equal to the backup. No API server may write to it; it is fenced meanwhile. */
  readonly target: TenancyData;
  /** UID of its DataStore. */
  readonly store: string;
  readonly folder: SealedFolder;
  readonly signal: AbortSignal;
}

/** What was restored. */
export interface RestoredBackup {
  /** When the backup was taken that it began from. */
  readonly backup: string;
  /** The moment of the last change that is contained; that of the backup if there is none. */
  readonly upTo: string;
  readonly keys: number;
  readonly bytes: number;
  /** Changes that were applied to the backup. */
  readonly changes: number;
}

/**
 * The control plane may have made so many revisions in the seconds after the last that is known: its clients know them, and a watch from
 * a greater revision than the datastore has waits for ever.
 */
const unknownRevisions = 10_000n;

/** The newest backup that is not after the moment; without a moment, the newest of all. Throws `RepositoryError`. */
export async function chooseBackup(folder: SealedFolder, moment: Date | undefined): Promise<BackupRecord> {
  const backups = await readBackups(folder);
  const [first] = backups;
  if (first === undefined) throw new RepositoryError('there is no backup of this control plane in the repository');
  const chosen = backups.findLast(({ at }) => moment === undefined || Date.parse(at) <= moment.getTime());
  if (chosen !== undefined) return chosen;
  throw new RepositoryError(`the oldest backup is of ${first.at}: an earlier moment cannot be restored`);
}

/**
 * Makes a tenancy equal to what the control plane had at a moment, or to the last that is known, and compares it afterwards. What was
 * made later is gone. Revisions go on above all that clients may have seen. May be repeated after an interruption; until it has
 * succeeded the tenancy stays fenced. Throws what datastore and repository throw, and the signal's reason.
 */
export async function restoreBackup(
  { target, store, folder, signal }: RestoreParts,
  record: BackupRecord,
  moment: Date | undefined,
): Promise<RestoredBackup> {
  await target.fence();
  const last = await lastRevision(folder, record);
  // In the same datastore revisions only grow: one that has the last known one has all.
  const wanted = store === record.store ? last : last + unknownRevisions;
  if ((await target.revision()) < wanted) {
    await target.raise(last + unknownRevisions, () => {
      signal.throwIfAborted();
    });
  }
  await target.beginWrites();
  const there = target.pages(await target.revision());
  for await (const { changes } of differences(entriesOf(folder, record), there)) {
    signal.throwIfAborted();
    if (changes.length > 0) await target.write(changes);
  }
  const changed = new Map<string, string>();
  let applied = 0;
  let upTo = record.at;
  for await (const round of roundsOf(folder, record, moment)) {
    signal.throwIfAborted();
    for (let at = 0; at < round.changes.length; at += longestPage) {
      await target.write(round.changes.slice(at, at + longestPage));
    }
    for (const change of round.changes) changed.set(keyOf(change), stateOf(change));
    applied += round.changes.length;
    upTo = round.at;
  }
  // What was sent and never answered, also by an earlier attempt, must not arrive when the tenant writes again.
  await target.endWrites();
  const content = await compared({ target, store, folder, signal }, record, changed);
  await target.unfence();
  return { backup: record.at, upTo, changes: applied, ...content };
}

/** The entries of a backup in pages. Throws `RepositoryError`. */
async function* entriesOf(folder: SealedFolder, { chunks }: BackupRecord): AsyncIterable<readonly StoredEntry[]> {
  for (const { name, keys } of chunks) {
    const entries = decodeEntries(await folder.read(folders.chunks + name));
    if (entries.length !== keys)
      throw new RepositoryError(`chunk ${name} has ${entries.length} keys in place of ${keys}`);
    yield entries;
  }
}

/** The changes after a backup, up to a moment, in their order. Throws `RepositoryError` when some are missing in between. */
async function* roundsOf(
  folder: SealedFolder,
  record: BackupRecord,
  moment: Date | undefined,
): AsyncIterable<ChangeRound> {
  let reached = BigInt(record.revision);
  for (const name of await folder.list(`${folders.changes}${record.run}/`)) {
    const { after, rounds } = decodeSegment(name, await folder.read(name));
    const end = rounds.at(-1)?.revision ?? after;
    if (end <= reached) continue;
    if (moment !== undefined && Date.parse(rounds[0]?.at ?? '') > moment.getTime()) return;
    if (after > reached) {
      throw new RepositoryError(`changes after revision ${reached} up to ${after} are missing before ${name}`);
    }
    for (const round of rounds) {
      if (round.revision <= reached) continue;
      if (moment !== undefined && Date.parse(round.at) > moment.getTime()) return;
      yield round;
      reached = round.revision;
    }
  }
}

/** Compares the tenancy with the backup and what changed since. Throws `RepositoryError` that names keys. */
async function compared(
  { target, folder, signal }: RestoreParts,
  record: BackupRecord,
  changed: ChangedKeys,
): Promise<{ readonly keys: number; readonly bytes: number }> {
  const there = new ContentFingerprint();
  const unequal: string[] = [];
  const pages = target.pages(await target.revision());
  for await (const { changes, pairs } of differences(entriesOf(folder, record), pages)) {
    signal.throwIfAborted();
    const differing = new Set(changes.map(keyOf));
    for (const pair of pairs) {
      const key = (pair.source ?? pair.target)?.key ?? '';
      if (pair.target !== undefined) there.add(pair.target);
      const expected = changed.get(key);
      const isEqual = expected === undefined ? !differing.has(key) || hasEnded(pair) : isAs(expected, pair);
      if (!isEqual) unequal.push(key);
    }
  }
  if (unequal.length > 0) {
    const some = unequal.slice(0, 3).join(', ');
    throw new RepositoryError(`${unequal.length} keys differ from the backup after the restore, such as ${some}`);
  }
  if (changed.size === 0 && there.hex !== record.fingerprint) {
    throw new RepositoryError('the checksum after the restore is not that of the backup');
  }
  return { keys: there.keys, bytes: there.bytes };
}

/** A key with a time to live may have ended meanwhile. */
const hasEnded = ({ source, target }: Pair): boolean => target === undefined && source?.ttlMs !== undefined;

function isAs(expected: string, { target }: Pair): boolean {
  if (expected === 'expiring') return true;
  return expected === (target === undefined ? 'deleted' : entryDigest(target.key, target.value));
}

const keyOf = (change: StoredChange): string => (change.is === 'put' ? change.entry.key : change.key);

function stateOf(change: StoredChange): string {
  if (change.is === 'deleted') return 'deleted';
  const { key, value, ttlMs } = change.entry;
  return ttlMs === undefined ? entryDigest(key, value) : 'expiring';
}
