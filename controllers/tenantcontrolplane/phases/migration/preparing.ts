import type { TenancyShare } from '../../../../api/steward/v1alpha1/migration-status.ts';
import { ApiError } from '../../../../runtime/errors.ts';
import { StoreError } from '../../../../stores/store-error.ts';
import { migrationObstacle } from '../../components/migration-obstacle.ts';
import { inPhase, undoing } from '../../components/migration-record.ts';
import { storeTrouble } from '../../components/tenancy.ts';
import { refusalRemedy } from '../../components/placement/namespace-refusal.ts';
import { refusalsByStore } from '../../namespace-labels.ts';
import { findJob, removeJob, startJob } from './job.ts';
import { onward, waiting } from './migration-visit.ts';
import type { MigrationVisit, Step } from './migration-visit.ts';
import { openShare, withUnknownPassword } from './shares.ts';
import { nextShare, targetShares } from './target-share.ts';

const removalMs = 500;

/**
 * Chooses the names of the share, makes it, and starts the Job that fills it. Names are recorded before they are tried, so that
 * a deletion knows them.
 */
export async function prepare(visit: MigrationVisit, record: Step['record']): Promise<Step> {
  const { scope, deps, ctx } = visit;
  const { tcp } = scope;
  const { signal } = ctx;
  const place = { tcp, deps, signal };
  const { target } = record;
  const share = await openShare(tcp, target, { deps, signal });
  const trouble = storeTrouble(share.store);
  if (trouble !== undefined) {
    return waiting(record, `DataStore ${target.dataStoreName} cannot be used: ${trouble.message}`);
  }
  const refusals = await refusalsByStore(tcp.metadata.namespace ?? '', [share.store], {
    cluster: deps.cluster,
    signal,
  });
  const refusal = refusals.get(target.dataStoreName);
  if (refusal !== undefined)
    return failed(visit, record, `DataStore ${target.dataStoreName} ${refusal}: ${refusalRemedy}`);
  const obstacle = migrationObstacle(tcp, [record.source.driver ?? '', share.open.driver]);
  if (obstacle !== undefined) return failed(visit, record, `spec.dataStore ${obstacle.reason}: ${obstacle.remedy}`);
  const shares = targetShares(tcp, record, share.open.driver);
  if (target.schema === undefined) return named(visit, record, shares[0]);
  if ((await findJob(place, record)) === 'other') {
    if (!(await removeJob(place)))
      return waiting(record, 'the Job of an earlier migration is being removed', removalMs);
  }
  try {
    await share.open.use((session) => session.ensure(withUnknownPassword(share)));
  } catch (error) {
    if (!(error instanceof StoreError)) throw error;
    if (error.reason === 'OwnedByAnother' || error.reason === 'InvalidName') {
      return named(visit, record, nextShare(shares, target), error.message);
    }
    if (error.reason === 'SingleTenant' || error.reason === 'Unsupported') return failed(visit, record, error.message);
    throw error;
  }
  try {
    await startJob(place, record);
  } catch (error) {
    if (!(error instanceof ApiError) || (error.code !== 403 && error.code !== 422)) throw error;
    return waiting(record, `the Job cannot be started: ${error.message}`, removalMs * 20);
  }
  return waiting(record, 'the Job starts');
}

/** The record with the names to try next. */
function named(visit: MigrationVisit, record: Step['record'], share: TenancyShare | undefined, why = ''): Step {
  if (share === undefined) return failed(visit, record, `no name for the tenant's share is free: ${why}`);
  return onward(inPhase(record, 'Preparing', visit.ctx.now, { target: share }));
}

function failed(visit: MigrationVisit, record: Step['record'], message: string): Step {
  return onward(undoing(record, visit.ctx.now, { ending: 'Failed', message }));
}
