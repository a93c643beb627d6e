import { kinds } from '../../../../api/core/kinds.ts';
import type { Job } from '../../../../api/core/kinds.ts';
import { migrationJob } from '../../../../api/names.ts';
import type { MigrationStatus } from '../../../../api/steward/v1alpha1/migration-status.ts';
import type { TenantControlPlane } from '../../../../api/steward/v1alpha1/tenant-control-plane.ts';
import { ApiError } from '../../../../runtime/client/errors.ts';
import { createIfAbsent } from '../../../../runtime/client/create-if-absent.ts';
import { annotationsPatch, migrationJobManifest, readChannel } from './migration-job.ts';
import type { Dependencies } from '../../dependencies.ts';
import { fieldManager } from '../../dependencies.ts';
import { podTroubles } from './pods.ts';
import type { MigrationChannel } from './migration-job.ts';

/** The tenant whose Job is meant, and the clients to reach it. */
export interface JobPlace {
  readonly tcp: TenantControlPlane;
  readonly deps: Pick<Dependencies, 'cluster' | 'migrations' | 'kineImage' | 'stores'>;
  readonly signal: AbortSignal;
}

/** The Job of this migration: what its process reports, and whether Kubernetes has given up on it. */
export interface FoundJob {
  readonly channel: MigrationChannel;
  /** Why the Job will start no further pod; undefined while it may. */
  readonly givenUp: string | undefined;
}

const keyOf = ({ tcp, deps }: JobPlace): { readonly namespace: string; readonly name: string } => ({
  namespace: deps.migrations.namespace,
  name: migrationJob(tcp.metadata.uid),
});

function read(place: JobPlace): Promise<Job | undefined> {
  return place.deps.cluster.get(kinds.Job, keyOf(place), { signal: place.signal });
}

/** The Job of this migration; undefined when there is none, `other` when that of an earlier one is still there. */
export async function findJob(place: JobPlace, migration: MigrationStatus): Promise<FoundJob | 'other' | undefined> {
  const job = await read(place);
  if (job === undefined) return undefined;
  const channel = readChannel(job);
  if (channel.started !== migration.startedAt || job.metadata.deletionTimestamp !== undefined) return 'other';
  const failed = job.status?.conditions?.find(({ type, status }) => type === 'Failed' && status === 'True');
  return { channel, givenUp: failed === undefined ? undefined : (failed.message ?? failed.reason ?? 'the Job failed') };
}

/** Starts the Job; an existing one is left in place. */
export async function startJob(place: JobPlace, migration: MigrationStatus): Promise<void> {
  const { tcp, deps, signal } = place;
  const { namespace, serviceAccount } = deps.migrations;
  const image = await deps.migrations.image(signal);
  const needsKine = deps.stores.capabilities(migration.target.driver ?? '')?.kine === true;
  const settings = { namespace, serviceAccount, image, ...(needsKine && { kineImage: deps.kineImage }) };
  const manifest = migrationJobManifest(tcp, migration, settings);
  await createIfAbsent(deps.cluster, { kind: kinds.Job, manifest }, { fieldManager, signal });
}

/** What keeps the pods of the Job from running, as their status reports it. */
export async function jobTroubles(place: JobPlace): Promise<string> {
  const { namespace, name } = keyOf(place);
  const selection = { namespace, labelSelector: `job-name=${name}`, signal: place.signal };
  return podTroubles((await place.deps.cluster.list(kinds.Pod, selection)).items);
}

/** Writes annotations of the Job for its process; does nothing if the Job no longer exists. */
export async function notifyJob(place: JobPlace, values: Readonly<Record<string, string | undefined>>): Promise<void> {
  try {
    await place.deps.cluster.patch(kinds.Job, keyOf(place), annotationsPatch(values), { signal: place.signal });
  } catch (error) {
    if (!(error instanceof ApiError) || error.code !== 404) throw error;
  }
}

/**
 * Removes the Job of the tenant, whichever migration it belongs to. True once it and its pods are gone, so that nothing copies
 * anymore.
 */
export async function removeJob(place: JobPlace): Promise<boolean> {
  const { deps, signal } = place;
  const key = keyOf(place);
  const job = await read(place);
  if (job !== undefined && job.metadata.deletionTimestamp === undefined) {
    // Foreground deletion: the Job exists until its pods are gone.
    await deps.cluster.delete(kinds.Job, key, { propagation: 'Foreground', signal });
  }
  const pods = await deps.cluster.list(kinds.Pod, {
    namespace: key.namespace,
    labelSelector: `job-name=${key.name}`,
    metadataOnly: true,
    signal,
  });
  return pods.items.length === 0 && (job === undefined || (await read(place)) === undefined);
}
