import { isDeepStrictEqual } from 'node:util';
import { kinds } from '../../api/core/kinds.ts';
import type { Secret } from '../../api/core/kinds.ts';
import type { Key } from '../../api/meta.ts';
import { awaitedRestore } from '../../api/steward/v1alpha1/backup/restore-mark.ts';
import { tenantControlPlane } from '../../api/steward/v1alpha1/tenant-control-plane.ts';
import type { TenantControlPlane } from '../../api/steward/v1alpha1/tenant-control-plane.ts';
import { sleep } from '../../runtime/clock.ts';
import { describeFailure } from '../../runtime/observe/describe-failure.ts';
import { nextBackup } from '../../stores/backup/backup-schedule.ts';
import type { BackupSchedule } from '../../stores/backup/backup-schedule.ts';
import { nameOfMoment } from '../../stores/backup/backup-record.ts';
import { followChanges } from '../../stores/backup/follow-changes.ts';
import { backupNames, readBackup } from '../../stores/backup/kept-backups.ts';
import { pruneBackups } from '../../stores/backup/prune-backups.ts';
import { recoverable } from '../../stores/backup/recoverable.ts';
import { takeBackup } from '../../stores/backup/take-backup.ts';
import type { TakenBackup } from '../../stores/backup/take-backup.ts';
import { backedUpObjects, backedUpSecrets, encryptionKeys } from './backed-up-objects.ts';
import { entriesOf } from './backup-entries.ts';
import type { BackupParts } from './backup-parts.ts';
import { BackupRefusal } from './backup-refusal.ts';
import { dataPlace, openData } from './data-of.ts';
import type { DataPlace } from './data-of.ts';

/** The task of the process. */
export interface BackupTask {
  readonly tenant: Key & { readonly namespace: string };
  readonly keep: number;
  /** When further backups are taken; absent for a single one. */
  readonly follow?: BackupSchedule;
  /** Whether a single backup may be one that is in the folder already: the process is started again until it has reported. */
  readonly resumes?: boolean;
}

/**
 * How often it is checked that data, CAs and keys are what they were. A new key of encrypted data is used only after a rollout, which takes
 * longer: it is in a backup by then. In milliseconds.
 */
const lookMs = 5000;

/** How often it is reported up to when all changes are saved. In milliseconds. */
const reportMs = 60_000;

/**
 * Backs up a control plane while it is in use: once, or again and again with all changes in between until the signal is aborted. Throws
 * `BackupRefusal`, and what management cluster, datastore and repository throw; the caller starts again.
 */
export async function runBackup(task: BackupTask, parts: BackupParts): Promise<void> {
  const { clock, log, folder, signal } = parts;
  await openable(parts);
  if (task.resumes === true && (await reportTaken(parts))) return;
  const run = nameOfMoment(clock.now().toISOString());
  const first = await take(task, parts, run);
  await prune(task, parts);
  if (task.follow === undefined) {
    await reportTaken(parts);
    return;
  }
  const opened = await openData(first.place, parts);
  await using data = opened.data;
  const ended = new AbortController();
  const stop = AbortSignal.any([signal, ended.signal]);
  const saved = { moment: first.taken.record.at };
  const reached = (moment: Date): void => {
    saved.moment = moment.toISOString();
  };
  const followed = followChanges(
    { data, folder, clock, run, reached, check: stillThere(task, parts, first.place), signal: stop },
    BigInt(first.taken.record.revision),
  );
  const repeated = repeat(task, { ...parts, signal: stop }, { run, first, follow: task.follow, saved });
  try {
    await Promise.race([followed, repeated]);
  } finally {
    ended.abort(new Error('the other half has ended'));
    await Promise.allSettled([repeated, followed]);
  }
  log.info('all changes up to here are in the repository', { revision: String(await followed) });
}

/** Throws `RepositoryError` if the newest backup was encrypted with another key: two keys must not share a folder. */
async function openable({ folder }: BackupParts): Promise<void> {
  const newest = (await backupNames(folder)).at(-1);
  if (newest !== undefined) await readBackup(folder, newest);
}

/** Reports the newest backup of the folder as the single one; false if there is none. */
async function reportTaken({ folder, report }: BackupParts): Promise<boolean> {
  const newest = entriesOf(await recoverable(folder)).at(-1);
  if (newest === undefined) return false;
  const { time, revision, keys, bytes } = newest;
  await report({ time, revision, keys, bytes, problem: null });
  return true;
}

/** A backup, where the data was, and the Secrets that belong to it. */
interface Taken {
  readonly taken: TakenBackup;
  readonly place: DataPlace;
  readonly secrets: readonly Secret[];
}

interface Repetition {
  readonly run: string;
  readonly first: Taken;
  readonly follow: BackupSchedule;
  /** Up to this moment all changes are in the repository. */
  readonly saved: { readonly moment: string };
}

/** Takes a backup whenever one is due and whenever a CA or key changed, until the signal is aborted. Throws when the data is elsewhere. */
async function repeat(task: BackupTask, parts: BackupParts, repetition: Repetition): Promise<void> {
  const { clock, signal } = parts;
  const { run, first, follow, saved } = repetition;
  const { place } = first;
  let { secrets } = first;
  const dueAfter = (moment: Date): number => nextBackup(follow, moment)?.getTime() ?? Infinity;
  let due = dueAfter(clock.now());
  await tell(parts, saved.moment, true);
  let told = clock.monotonic();
  for (;;) {
    const wait = Math.min(lookMs, Math.max(due - clock.now().getTime(), 0));
    const isOver = await sleep(clock, wait, signal).then(
      () => false,
      () => true,
    );
    if (isOver) return;
    const now = dataPlace(await tenantOf(task, parts));
    const isChanged = !isDeepStrictEqual((await secretsOf(task, parts)).map(dataOf), secrets.map(dataOf));
    if (JSON.stringify(now) !== JSON.stringify(place)) {
      throw new BackupRefusal(movedText(place, now));
    }
    const isDue = clock.now().getTime() >= due || isChanged;
    if (isDue) {
      ({ secrets } = await take(task, parts, run));
      await prune(task, parts);
      due = dueAfter(clock.now());
    }
    if (!isDue && clock.monotonic() - told < reportMs) continue;
    await tell(parts, saved.moment, isDue);
    told = clock.monotonic();
  }
}

/** Reports up to when all changes are saved, and after a new backup which ones are kept. The next report makes up for one that fails. */
async function tell({ folder, report, log }: BackupParts, changesUntil: string, isNew: boolean): Promise<void> {
  const backups = isNew ? { backups: entriesOf(await recoverable(folder)) } : {};
  try {
    await report({ ...backups, changesUntil, problem: null });
  } catch (error) {
    log.warn('the progress could not be reported', { error: describeFailure(error) });
  }
}

/** The Secrets that are part of a backup. Throws `BackupRefusal` when one is missing that every control plane has. */
async function secretsOf(task: BackupTask, { cluster, signal }: BackupParts): Promise<readonly Secret[]> {
  const { namespace, name } = task.tenant;
  const read = (secret: string): Promise<Secret | undefined> =>
    cluster.get(kinds.Secret, { namespace, name: secret }, { signal });
  const found = await Promise.all(
    backedUpSecrets(name).map(async (secret) => {
      const one = await read(secret);
      if (one === undefined) throw new BackupRefusal(`TenantControlPlane ${textOf(task)} has no Secret ${secret} yet`);
      return one;
    }),
  );
  const keys = await read(encryptionKeys(name));
  return keys === undefined ? found : [...found, keys];
}

const dataOf = ({ data }: Secret): unknown => data;

async function take(task: BackupTask, parts: BackupParts, run: string): Promise<Taken> {
  const { folder, clock, log, signal } = parts;
  const tcp = await tenantOf(task, parts);
  const place = dataPlace(tcp);
  if (place === undefined) throw new BackupRefusal(`TenantControlPlane ${textOf(task)} has no data yet`);
  const secrets = await secretsOf(task, parts);
  const begun = clock.monotonic();
  const opened = await openData(place, parts);
  await using data = opened.data;
  const objects = backedUpObjects(tcp, secrets);
  const check = stillThere(task, parts, place);
  const taken = await takeBackup({ data, folder, clock, objects, store: opened.store, run, check, signal });
  const { at, keys, bytes } = taken.record;
  const { newChunks, writtenBytes } = taken;
  const tookMs = Math.round(clock.monotonic() - begun);
  log.info('a backup was taken', { tenant: textOf(task), at, keys, bytes, newChunks, writtenBytes, tookMs });
  return { taken, place, secrets };
}

/** Throws `BackupRefusal` for one that is being deleted, whose data is removed, and for one that waits for its data: neither may be saved. */
async function tenantOf(
  task: BackupTask,
  { cluster, signal }: Pick<BackupParts, 'cluster'> & { readonly signal?: AbortSignal },
): Promise<TenantControlPlane> {
  const tcp = await cluster.get(tenantControlPlane, task.tenant, signal === undefined ? {} : { signal });
  if (tcp === undefined) throw new BackupRefusal(`TenantControlPlane ${textOf(task)} does not exist`);
  const awaited = awaitedRestore(tcp);
  if (awaited !== undefined) {
    throw new BackupRefusal(
      `TenantControlPlane ${textOf(task)} waits for TenantRestore ${awaited}: it has no data yet`,
    );
  }
  if (tcp.metadata.deletionTimestamp === undefined) return tcp;
  throw new BackupRefusal(`TenantControlPlane ${textOf(task)} is being deleted`);
}

/**
 * Throws unless what was read so far is the data of the control plane: data is removed only after its deletion has begun, or from where it
 * has not been for a while. It also answers when the process is asked to end.
 */
function stillThere(task: BackupTask, { cluster }: BackupParts, place: DataPlace): () => Promise<void> {
  return async () => {
    const now = dataPlace(await tenantOf(task, { cluster }));
    if (JSON.stringify(now) !== JSON.stringify(place)) throw new BackupRefusal(movedText(place, now));
  };
}

const movedText = (place: DataPlace, now: DataPlace | undefined): string =>
  `the data was in DataStore ${place.dataStoreName} and is now in ${now?.dataStoreName ?? 'none'}`;

async function prune(task: BackupTask, { folder, log }: BackupParts): Promise<void> {
  const { removed } = await pruneBackups(folder, task.keep);
  if (removed > 0) log.info('old backups were removed', { tenant: textOf(task), removed });
}

const textOf = ({ tenant }: BackupTask): string => `${tenant.namespace}/${tenant.name}`;
