import { randomBytes, randomUUID } from 'node:crypto';
import type { Key } from '../../api/meta.ts';
import { annotations, migrationJob } from '../../api/names.ts';
import { dataStore } from '../../api/steward/v1alpha1/data-store.ts';
import type { MigrationStatus, TenancyShare } from '../../api/steward/v1alpha1/migration-status.ts';
import { isUnderWay } from '../../api/steward/v1alpha1/share-in-use.ts';
import { tenantControlPlane } from '../../api/steward/v1alpha1/tenant-control-plane.ts';
import { tenancyOwner } from '../../controllers/tenantcontrolplane/datastore/tenancy.ts';
import type { Clock } from '../../runtime/clock.ts';
import { messageOf } from '../../runtime/reconcile/conditions.ts';
import type { Cluster } from '../../runtime/client/cluster.ts';
import type { Logger } from '../../runtime/observe/logger.ts';
import type { Tenancy } from '../../stores/driver.ts';
import { openTenancyData } from '../../stores/open-tenancy-data.ts';
import type { Migrate, MigrationOutcome } from '../../stores/migration/migration.ts';
import type { OpenStore, StoreAccess } from '../../stores/store-access.ts';
import { GiveUpError, JobChannel } from './job-channel.ts';
import { JobFreeze } from './job-freeze.ts';
import { JobHeartbeat } from './job-heartbeat.ts';
import { JobJournal } from './job-journal.ts';

/** The dependencies of the process of a migration. */
export interface MigrationParts {
  readonly cluster: Cluster;
  readonly stores: Pick<StoreAccess, 'open'>;
  readonly clock: Clock;
  readonly log: Logger;
  readonly migrate: Migrate;
  /** Aborted when the process is asked to end. */
  readonly signal: AbortSignal;
}

/** The task of the process. */
export interface MigrationTask {
  readonly tenant: Key & { readonly namespace: string };
  readonly target: string;
  /** Namespace of the Job. */
  readonly operatorNamespace: string;
  /** Remove what is already in the target under the tenant's own names. */
  readonly cleanup: boolean;
  /** Milliseconds from the beginning of the migration. */
  readonly timeoutMs: number;
}

interface Side {
  readonly open: OpenStore;
  readonly tenancy: Tenancy;
}

/**
 * Migrates the data after a change of `spec.dataStore`, up to the point where the tenant can be switched. Resolves with the
 * outcome, which is also written to the Job. Throws `GiveUpError` if another attempt would not help, after writing it
 * there.
 */
export async function runMigration(task: MigrationTask, parts: MigrationParts): Promise<MigrationOutcome> {
  const { cluster } = parts;
  const tcp = await cluster.get(tenantControlPlane, task.tenant);
  if (tcp === undefined) throw new GiveUpError(`TenantControlPlane ${textOf(task)} does not exist`);
  const { uid } = tcp.metadata;
  const channel = new JobChannel(cluster, { namespace: task.operatorNamespace, name: migrationJob(uid) });
  try {
    const record = tcp.status?.storage?.migration;
    const { started } = await channel.read();
    if (!isUnderWay(record) || record.target.dataStoreName !== task.target || record.startedAt !== started) {
      throw new GiveUpError(`no migration of ${textOf(task)} to DataStore ${task.target} is under way for this Job`);
    }
    return await work(task, { ...parts, channel, record, owner: tenancyOwner(tcp) });
  } catch (error) {
    const where = error instanceof GiveUpError ? annotations.migrationFailure : annotations.migrationProblem;
    // If the Job cannot be written, the process is about to end anyway.
    await channel.write({ [where]: messageOf(error) }).catch(() => undefined);
    throw error;
  }
}

interface Work extends MigrationParts {
  readonly channel: JobChannel;
  readonly record: MigrationStatus;
  readonly owner: string;
}

async function work(task: MigrationTask, parts: Work): Promise<MigrationOutcome> {
  const { channel, clock, log, record, signal } = parts;
  const [source, target] = await Promise.all([sideOf(record.source, parts), sideOf(record.target, parts)]);
  const journal = new JobJournal(channel, randomUUID());
  if ((await journal.read()) === undefined) await makeReady(target, task);
  const lost = new AbortController();
  const cancel = new AbortController();
  const done = new AbortController();
  const heartbeat = new JobHeartbeat({
    channel,
    clock,
    log,
    canceled: (reason) => {
      cancel.abort(new Error(reason));
    },
    lost: (error) => {
      lost.abort(new Error('the API server of the management cluster is not reachable', { cause: error }));
    },
  });
  const left = Math.max(Date.parse(record.startedAt) + task.timeoutMs - clock.now().getTime(), 0);
  const timer = clock.after(left, () => {
    cancel.abort(
      new Error(
        `it took longer than ${task.timeoutMs / 1000} s; raise the limit with the annotation ${annotations.migrationTimeout}`,
      ),
    );
  });
  const beating = heartbeat.run(done.signal);
  try {
    return await parts.migrate({
      source: () => openTenancyData(source.open, source.tenancy),
      target: () => openTenancyData(target.open, target.tenancy),
      journal,
      freeze: new JobFreeze(channel, clock, randomUUID),
      clock,
      signal: AbortSignal.any([signal, lost.signal]),
      cancel: cancel.signal,
      report: heartbeat.report,
    });
  } finally {
    timer.cancel();
    done.abort();
    await beating;
  }
}

async function sideOf(share: TenancyShare, { cluster, stores, signal, owner }: Work): Promise<Side> {
  const store = await cluster.get(dataStore, { name: share.dataStoreName }, { signal });
  if (store === undefined) throw new GiveUpError(`DataStore ${share.dataStoreName} does not exist`);
  const { schema = '', user = '' } = share;
  return { open: await stores.open(store, signal), tenancy: { schema, user, owner } };
}

/** What is there before the first copy is not replaced silently: it may be the only copy of something. */
async function makeReady({ open, tenancy }: Side, { cleanup, target }: MigrationTask): Promise<void> {
  const data = await openTenancyData(open, tenancy);
  const keys = await data.count().finally(() => data[Symbol.asyncDispose]());
  if (keys === 0) return;
  if (!cleanup) {
    throw new GiveUpError(
      `DataStore ${target} already holds ${keys} keys of this tenant (schema ${tenancy.schema}): set the annotation ${annotations.cleanupPriorMigration} to "true" to have them removed first`,
    );
  }
  const fresh: Tenancy = open.capabilities.passwords
    ? { ...tenancy, password: randomBytes(24).toString('hex') }
    : tenancy;
  await open.use(async (session) => {
    await session.remove(tenancy);
    await session.ensure(fresh);
  });
}

const textOf = ({ tenant }: MigrationTask): string => `${tenant.namespace}/${tenant.name}`;
