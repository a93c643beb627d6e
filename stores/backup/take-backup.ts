import type { Clock } from '../../runtime/clock.ts';
import { CompactedError } from '../tenancy-data.ts';
import type { StoredEntry, TenancyData } from '../tenancy-data.ts';
import { ContentFingerprint } from '../migration/content-fingerprint.ts';
import { encodeEntries } from './change-coding.ts';
import { folders, nameOfMoment } from './backup-record.ts';
import type { BackedUpObject, BackupRecord, ChunkRecord } from './backup-record.ts';
import { chunksOf } from './chunks.ts';
import type { SealedFolder } from './sealed-folder.ts';

/** What a backup needs. */
export interface BackupParts {
  readonly data: Pick<TenancyData, 'revision' | 'pages'>;
  readonly folder: SealedFolder;
  readonly clock: Clock;
  readonly objects: readonly BackedUpObject[];
  /** UID of the DataStore. */
  readonly store: string;
  /** The run of the process, whose changes continue this backup. */
  readonly run: string;
  /** Called after all was read and before the record is written; throws if it may be the remainder of a control plane that is deleted. */
  readonly check?: () => Promise<void>;
  readonly signal: AbortSignal;
}

/** A backup that was taken, and what it cost. */
export interface TakenBackup {
  readonly record: BackupRecord;
  /** Chunks that were not in the repository yet, and the bytes that were written for them. */
  readonly newChunks: number;
  readonly writtenBytes: number;
}

/** A datastore that compacts while it is read is read again so often. */
const mostTries = 3;

/**
 * Writes everything that a tenancy has at its present revision, and last the record that names it: an interrupted backup does not
 * exist, and the next one finds its chunks. Writes to the tenancy go on meanwhile. Throws what datastore and repository throw, and the
 * signal's reason.
 */
export async function takeBackup(parts: BackupParts): Promise<TakenBackup> {
  for (let tries = 1; ; tries += 1) {
    try {
      return await take(parts);
    } catch (error) {
      if (!(error instanceof CompactedError) || tries === mostTries) throw error;
    }
  }
}

async function take({ data, folder, clock, objects, store, run, check, signal }: BackupParts): Promise<TakenBackup> {
  const known = new Set((await folder.list(folders.chunks)).map((name) => name.slice(folders.chunks.length)));
  const revision = await data.revision();
  const at = clock.now().toISOString();
  const fingerprint = new ContentFingerprint();
  const chunks: ChunkRecord[] = [];
  let newChunks = 0;
  let writtenBytes = 0;
  for await (const entries of chunksOf(data.pages(revision))) {
    signal.throwIfAborted();
    for (const entry of entries) fingerprint.add(entry);
    const content = encodeEntries(entries.map(withRoundedTime));
    const name = folder.nameOf(content);
    if (!known.has(name)) {
      writtenBytes += await folder.write(folders.chunks + name, content);
      newChunks += 1;
      known.add(name);
    }
    chunks.push({ name, keys: entries.length });
  }
  const { keys, bytes, hex } = fingerprint;
  const record: BackupRecord = {
    format: 1,
    at,
    store,
    run,
    revision: revision.toString(),
    chunks,
    keys,
    bytes,
    fingerprint: hex,
    objects,
  };
  signal.throwIfAborted();
  await check?.();
  await folder.write(`${folders.backups}${nameOfMoment(at)}`, Buffer.from(JSON.stringify(record)));
  return { record, newChunks, writtenBytes };
}

/** Times to live count down: rounded up to minutes, they change fewer chunks. */
function withRoundedTime(entry: StoredEntry): StoredEntry {
  if (entry.ttlMs === undefined) return entry;
  return { ...entry, ttlMs: Math.ceil(entry.ttlMs / 60_000) * 60_000 };
}
