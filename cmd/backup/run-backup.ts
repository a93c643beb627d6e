import { isDeepStrictEqual } from 'node:util';
import { kinds } from '../../api/core/kinds.ts';
import type { Secret } from '../../api/core/kinds.ts';
import type { Key } from '../../api/meta.ts';
import { tenantControlPlane } from '../../api/steward/v1alpha1/tenant-control-plane.ts';
import type { TenantControlPlane } from '../../api/steward/v1alpha1/tenant-control-plane.ts';
import { sleep } from '../../runtime/clock.ts';
import { nameOfMoment } from '../../stores/backup/backup-record.ts';
import { followChanges } from '../../stores/backup/follow-changes.ts';
import { pruneBackups } from '../../stores/backup/prune-backups.ts';
import { takeBackup } from '../../stores/backup/take-backup.ts';
import type { TakenBackup } from '../../stores/backup/take-backup.ts';
import { backedUpObjects, backedUpSecrets, encryptionKeys } from './backed-up-objects.ts';
import type { BackupParts } from './backup-parts.ts';
import { BackupRefusal } from './backup-refusal.ts';
import { dataPlace, openData } from './data-of.ts';
import type { DataPlace } from './data-of.ts';

/** The task of the process. */
export interface BackupTask {
  readonly tenant: Key & { readonly namespace: string };
  readonly keep: number;
  /** Milliseconds between two backups; absent for a single one. */
  readonly followMs?: number;
}

/**
 * How often it is checked that data, CAs and keys are what they were. A new key of encrypted data is used only after a rollout, which takes
 * longer: it is in a backup by then. In milliseconds.
 */
const lookMs = 5000;

/**
 * Backs up a control plane while it is in use: once, or again and again with all changes in between until the signal is aborted. Throws
 * `BackupRefusal`, and what management cluster, datastore and repository throw; the caller starts again.
 */
export async function runBackup(task: BackupTask, parts: BackupParts): Promise<void> {
  const { clock, log, folder, signal } = parts;
  const run = nameOfMoment(clock.now().toISOString());
  const first = await take(task, parts, run);
  await prune(task, parts);
  if (task.followMs === undefined) return;
  const opened = await openData(first.place, parts);
  await using data = opened.data;
  const ended = new AbortController();
  const stop = AbortSignal.any([signal, ended.signal]);
  const followed = followChanges({ data, folder, clock, run, signal: stop }, BigInt(first.taken.record.revision));
  const repeated = repeat(task, { ...parts, signal: stop }, { run, first, everyMs: task.followMs });
  try {
    await Promise.race([followed, repeated]);
  } finally {
    ended.abort(new Error('the other half has ended'));
    await Promise.allSettled([repeated, followed]);
  }
  log.info('all changes up to here are in the repository', { revision: String(await followed) });
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
  readonly everyMs: number;
}

/** Takes a backup after each interval and whenever a CA or key changed, until the signal is aborted. Throws when the data is elsewhere. */
async function repeat(task: BackupTask, parts: BackupParts, { run, first, everyMs }: Repetition): Promise<void> {
  const { clock, signal } = parts;
  const { place } = first;
  let { secrets } = first;
  let due = clock.monotonic() + everyMs;
  for (;;) {
    const isOver = await sleep(clock, Math.min(lookMs, Math.max(due - clock.monotonic(), 0)), signal).then(
      () => false,
      () => true,
    );
    if (isOver) return;
    const now = dataPlace(await tenantOf(task, parts));
    const isChanged = !isDeepStrictEqual((await secretsOf(task, parts)).map(dataOf), secrets.map(dataOf));
    if (JSON.stringify(now) !== JSON.stringify(place)) {
      throw new BackupRefusal(
        `the data was in DataStore ${place.dataStoreName} and is now in ${now?.dataStoreName ?? 'none'}`,
      );
    }
    if (clock.monotonic() < due && !isChanged) continue;
    ({ secrets } = await take(task, parts, run));
    await prune(task, parts);
    due = clock.monotonic() + everyMs;
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
      if (one === undefined) throw new BackupRefusal(`${textOf(task)} has no Secret ${secret} yet`);
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
  if (place === undefined) throw new BackupRefusal(`${textOf(task)} has no data yet`);
  const secrets = await secretsOf(task, parts);
  const begun = clock.monotonic();
  const opened = await openData(place, parts);
  await using data = opened.data;
  const objects = backedUpObjects(tcp, secrets);
  const taken = await takeBackup({ data, folder, clock, objects, store: opened.store, run, signal });
  const { at, keys, bytes } = taken.record;
  const { newChunks, writtenBytes } = taken;
  const tookMs = Math.round(clock.monotonic() - begun);
  log.info('a backup was taken', { tenant: textOf(task), at, keys, bytes, newChunks, writtenBytes, tookMs });
  return { taken, place, secrets };
}

async function tenantOf(task: BackupTask, { cluster, signal }: BackupParts): Promise<TenantControlPlane> {
  const tcp = await cluster.get(tenantControlPlane, task.tenant, { signal });
  if (tcp !== undefined) return tcp;
  throw new BackupRefusal(`TenantControlPlane ${textOf(task)} does not exist`);
}

async function prune(task: BackupTask, { folder, log }: BackupParts): Promise<void> {
  const { removed } = await pruneBackups(folder, task.keep);
  if (removed > 0) log.info('old backups were removed', { tenant: textOf(task), removed });
}

const textOf = ({ tenant }: BackupTask): string => `${tenant.namespace}/${tenant.name}`;
