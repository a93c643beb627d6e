import { kinds } from '../../api/core/kinds.ts';
import type { Key, KindRef, Manifest, Resource } from '../../api/meta.ts';
import { annotations, labels } from '../../api/names.ts';
import {
  awaitedRestore,
  identityMarkOf,
  restoreMark,
  restoreMarkOf,
} from '../../api/steward/v1alpha1/backup/restore-mark.ts';
import { tenantControlPlane } from '../../api/steward/v1alpha1/tenant-control-plane.ts';
import type { TenantControlPlane } from '../../api/steward/v1alpha1/tenant-control-plane.ts';
import { sleep } from '../../runtime/clock.ts';
import { createIfAbsent } from '../../runtime/client/create-if-absent.ts';
import { chooseBackup, restoreBackup } from '../../stores/backup/restore-backup.ts';
import type { RestoredBackup } from '../../stores/backup/restore-backup.ts';
import { encryptionKeys } from './backed-up-objects.ts';
import type { BackupParts } from './backup-parts.ts';
import { BackupRefusal } from './backup-refusal.ts';
import { dataPlace, openData } from './data-of.ts';
import type { DataPlace } from './data-of.ts';
import { restoreIdentity, verifyIdentity } from './restore-identity.ts';
import type { Identity } from './restore-identity.ts';
import { restoredObjects } from './restored-objects.ts';
import type { RestoredObjects } from './restored-objects.ts';

/** The task of the process. */
export interface RestoreTask {
  readonly tenant: Key & { readonly namespace: string };
  /** Name of the control plane that was backed up; the same by default. */
  readonly original?: string;
  /** Whether a new control plane gets the CAs and keys of that, too, under its own names. It must wait for them. */
  readonly moves?: boolean;
  /** Absent for the last moment that is known. */
  readonly at?: Date;
  readonly timeoutMs: number;
  /**
   * Identifies the task to its repetitions: one that has woken the control plane up and died before it could report that is recognized as
   * complete. Absent for a command, for which it is unknown whether it is a repetition.
   */
  readonly id?: string;
}

/** The interval at which an awaited state is polled. In milliseconds. */
const lookMs = 1000;

const fieldManager = 'steward-restore';

/**
 * Restores a control plane that sleeps, or creates it again with its CAs and keys, and wakes it up if the number of its pods is known.
 * Safe to run again after any interruption. Throws `BackupRefusal`, and what management cluster, datastore and repository throw.
 */
export async function runRestore(task: RestoreTask, parts: BackupParts): Promise<RestoredBackup | undefined> {
  const { cluster, folder, log, report, signal } = parts;
  await report({ step: 'Preparing', problem: null });
  const record = await chooseBackup(folder, task.at);
  const found = await cluster.get(tenantControlPlane, task.tenant, { signal });
  const markOf = task.moves === true ? identityMarkOf : restoreMarkOf;
  const mark = found && markOf(found);
  if (mark !== undefined && mark.task === task.id) {
    log.info('this task has restored it before', { tenant: textOf(task), upTo: mark.upTo });
    await report({ step: 'Restored', restoredTime: mark.upTo, problem: null });
    return undefined;
  }
  if (found?.metadata.deletionTimestamp !== undefined) {
    // Its deletion removes the data, which nothing may write afterwards.
    throw new BackupRefusal(`TenantControlPlane ${textOf(task)} is being deleted: restore it when it is gone`);
  }
  const objects = restoredObjects(record.objects, task.original ?? task.tenant.name);
  const identity: Identity | undefined = task.moves === true ? objects : undefined;
  const tcp = identity === undefined ? (found ?? (await recreated(task, parts, objects))) : awaiting(found, task);
  await asleep(tcp, task, parts);
  if (identity === undefined) await restoreKeys(task, parts, objects);
  else await restoreIdentity(tcp, identity, parts);
  const place = await prepared(task, parts);
  // What an earlier attempt has completed no longer holds.
  await report({ step: 'Restoring', backupTime: record.at, keys: null, bytes: null, changes: null });
  const { data, store } = await openData(place, parts);
  await using target = data;
  const restored = await restoreBackup({ target, store, folder, signal: parts.signal }, record, task.at);
  log.info('the data was restored', { tenant: textOf(task), ...restored });
  const { upTo: restoredTime, keys, bytes, changes } = restored;
  await report({ step: 'Waking', keys, bytes, changes });
  if (identity === undefined) await wake(task, parts, restoredTime);
  else await complete(tcp, { task, upTo: restoredTime, identity }, parts);
  await report({ step: 'Restored', restoredTime, problem: null });
  return restored;
}

/** The new control plane, which has no CAs and keys yet, or those of an earlier attempt. Throws `BackupRefusal` for any other one. */
function awaiting(found: TenantControlPlane | undefined, task: RestoreTask): TenantControlPlane {
  if (found !== undefined && awaitedRestore(found) !== undefined) return found;
  const is = found === undefined ? 'does not exist' : 'does not wait for a restore, and may have CAs, keys and data';
  throw new BackupRefusal(
    `TenantControlPlane ${textOf(task)} ${is}: it has to be created with 0 replicas and the annotation ${annotations.awaitsRestore}`,
  );
}

/**
 * Records that the control plane is complete: from then on it may run, and no restore of this kind touches it again. The API server
 * refuses the patch if it is another one of its name by now.
 */
async function complete(
  tcp: TenantControlPlane,
  { task, upTo, identity }: { readonly task: RestoreTask; readonly upTo: string; readonly identity: Identity },
  parts: BackupParts,
): Promise<void> {
  await verifyIdentity(tcp, identity, parts);
  const { uid } = tcp.metadata;
  const body = {
    metadata: {
      uid,
      annotations: { [annotations.restored]: restoreMark({ task: task.id ?? '', upTo, identityOf: uid }) },
    },
  };
  const { cluster, log, signal } = parts;
  await cluster.patch(tenantControlPlane, task.tenant, { type: 'merge', body }, { fieldManager, signal });
  log.info('it is complete: whoever created it sets its number of pods', { tenant: textOf(task) });
}

/** The control plane that does not exist, created from the backup. */
async function recreated(
  task: RestoreTask,
  parts: BackupParts,
  { own, secrets }: RestoredObjects,
): Promise<TenantControlPlane> {
  const { cluster, log, signal } = parts;
  const original = own?.metadata.name ?? task.tenant.name;
  if (original !== task.tenant.name) {
    throw new BackupRefusal(
      `TenantControlPlane ${textOf(task)} does not exist, and the backup is of ${original}: create it with 0 replicas first`,
    );
  }
  for (const secret of secrets) {
    await created(parts, kinds.Secret, inNamespace(secret, task));
    log.info('a Secret was created', { name: secret.metadata.name });
  }
  if (own === undefined) {
    throw new BackupRefusal(
      `TenantControlPlane ${textOf(task)} does not exist and cannot be recreated here, because another object, such as a Cluster, creates it. Its Secrets were restored: create that object with 0 replicas, then restore in place`,
    );
  }
  await created(parts, tenantControlPlane, sleepingManifest(inNamespace(own, task)));
  log.info('the TenantControlPlane was created', { tenant: textOf(task) });
  const made = await cluster.get(tenantControlPlane, task.tenant, { signal });
  if (made === undefined) throw new BackupRefusal(`TenantControlPlane ${textOf(task)} was deleted meanwhile`);
  return made;
}

async function created<T extends Resource>(
  { cluster, signal }: BackupParts,
  kind: KindRef<T>,
  manifest: Manifest,
): Promise<void> {
  await createIfAbsent(cluster, { kind, manifest }, { fieldManager, signal });
}

const inNamespace = (manifest: Manifest, { tenant }: RestoreTask): Manifest => {
  return { ...manifest, metadata: { ...manifest.metadata, namespace: tenant.namespace } };
};

/** The same without pods. The number that it had is recorded as by `kubectl steward sleep`. */
function sleepingManifest(manifest: Manifest): Manifest {
  const spec = manifest.spec as TenantControlPlane['spec'];
  const { controlPlane } = spec;
  const { deployment } = controlPlane;
  const replicas = String(deployment.replicas);
  return {
    ...manifest,
    metadata: {
      ...manifest.metadata,
      annotations: { ...manifest.metadata.annotations, [annotations.replicasBeforeSleep]: replicas },
    },
    spec: { ...spec, controlPlane: { ...controlPlane, deployment: { ...deployment, replicas: 0 } } },
  };
}

/**
 * Gives encrypted data the keys that it was encrypted with. Throws `BackupRefusal` where that is not possible: another control plane has
 * keys of its own, and one that encrypts everything cannot read what is plain.
 */
async function restoreKeys(task: RestoreTask, parts: BackupParts, { secrets }: RestoredObjects): Promise<void> {
  const { cluster, log, signal } = parts;
  const saved = secrets.find(({ metadata }) => isKeys(metadata.name));
  const key = { namespace: task.tenant.namespace, name: encryptionKeys(task.tenant.name) };
  const present = await cluster.get(kinds.Secret, key, { signal });
  if (saved === undefined) {
    if (present === undefined) return;
    throw new BackupRefusal(
      `TenantControlPlane ${textOf(task)} encrypts its data and did not when the backup was taken: switch encryption off first`,
    );
  }
  if (saved.metadata.name !== key.name) {
    throw new BackupRefusal(
      `the backup has encrypted data, which is restored with its keys and only under its own name`,
    );
  }
  if (present === undefined) await created(parts, kinds.Secret, inNamespace(saved, task));
  else {
    const body = [{ op: 'replace', path: '/data', value: saved.data }];
    await cluster.patch(kinds.Secret, key, { type: 'json', body }, { fieldManager, signal });
  }
  log.info('the keys of the encrypted data were restored', { name: key.name });
}

const isKeys = (name: string): boolean => name.endsWith(encryptionKeys(''));

/** Throws `BackupRefusal` while it may have pods: they would write what they remember. */
async function asleep(tcp: TenantControlPlane, task: RestoreTask, parts: BackupParts): Promise<void> {
  const { cluster, signal } = parts;
  if (tcp.spec.controlPlane.deployment.replicas !== 0) {
    const upTo = restoreMarkOf(tcp)?.upTo;
    const last = upTo === undefined ? '' : ` and was last restored as of ${upTo}`;
    throw new BackupRefusal(
      `TenantControlPlane ${textOf(task)} is in use${last}: to restore it, put it to sleep first, with kubectl steward sleep or 0 replicas`,
    );
  }
  const { namespace } = task.tenant;
  // Two with the same keys must not run at a time.
  const names = new Set([
    tcp.metadata.name,
    ...(task.moves === true && task.original !== undefined ? [task.original] : []),
  ]);
  const selection = { namespace, labelSelector: `${labels.name} in (${[...names].join(',')})` };
  const whose = [...names].map((name) => `${namespace}/${name}`).join(' and ');
  await until(task, parts, `the pods of ${whose} to end`, async () => {
    const { items } = await cluster.list(kinds.Pod, { ...selection, metadataOnly: true, signal });
    return items.length === 0 ? true : undefined;
  });
}

/** Where its data is to be, as soon as Steward has made room for it. */
function prepared(task: RestoreTask, parts: BackupParts): Promise<DataPlace> {
  const { cluster, signal } = parts;
  return until(task, parts, `the DataStore of ${textOf(task)} to have room for its data`, async () => {
    const tcp = await cluster.get(tenantControlPlane, task.tenant, { signal });
    const isMade = tcp?.status?.conditions?.some(({ type, status }) => type === 'StoreReady' && status === 'True');
    return tcp !== undefined && isMade === true ? dataPlace(tcp) : undefined;
  });
}

/** Sets the number of pods that is recorded, as `kubectl steward wake` does, and marks what was restored. */
async function wake(task: RestoreTask, { cluster, log, signal }: BackupParts, upTo: string): Promise<void> {
  const tcp = await cluster.get(tenantControlPlane, task.tenant, { signal });
  const recorded = Number(tcp?.metadata.annotations?.[annotations.replicasBeforeSleep] ?? '0');
  if (!Number.isSafeInteger(recorded) || recorded <= 0) {
    log.info('it sleeps: wake it up with kubectl steward wake or a number of replicas', { tenant: textOf(task) });
    return;
  }
  // Where it got its identity stays known.
  const identityOf = tcp && identityMarkOf(tcp)?.identityOf;
  const mark = { task: task.id ?? '', upTo, ...(identityOf !== undefined && { identityOf }) };
  const body = {
    metadata: {
      annotations: {
        [annotations.replicasBeforeSleep]: null,
        [annotations.restored]: restoreMark(mark),
      },
    },
    spec: { controlPlane: { deployment: { replicas: recorded } } },
  };
  await cluster.patch(tenantControlPlane, task.tenant, { type: 'merge', body }, { fieldManager, signal });
  log.info('it wakes up', { tenant: textOf(task), replicas: recorded });
}

/** Polls until there is a result. Throws `BackupRefusal` that names what was awaited. */
async function until<T>(
  { timeoutMs }: RestoreTask,
  { clock, log, signal }: BackupParts,
  what: string,
  look: () => Promise<T | undefined>,
): Promise<T> {
  const end = clock.monotonic() + timeoutMs;
  for (let isFirst = true; ; isFirst = false) {
    const answer = await look();
    if (answer !== undefined) return answer;
    if (clock.monotonic() >= end) throw new BackupRefusal(`waited ${timeoutMs / 1000} s for ${what}`);
    if (isFirst) log.info(`waiting for ${what}`);
    await sleep(clock, lookMs, signal);
  }
}

const textOf = ({ tenant }: RestoreTask): string => `${tenant.namespace}/${tenant.name}`;
