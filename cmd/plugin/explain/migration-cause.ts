import type { Condition } from '../../../api/meta.ts';
import { annotations } from '../../../api/names.ts';
import { toDo } from '../../../api/remedies/remedy.ts';
import type { MigrationStatus } from '../../../api/steward/v1alpha1/migration-status.ts';
import { isUnderWay } from '../../../api/steward/v1alpha1/share-in-use.ts';
import { causeWith, conditionCause } from './condition-cause.ts';
import type { Cause } from './explanation.ts';
import { podCause } from './pod-cause.ts';
import { conditionIn } from './situation.ts';
import type { Situation } from './situation.ts';

/** A phase that lasts so long without progress is worth a look, in milliseconds. Copying takes as long as there is data. */
const patienceMs = 15 * 60_000;

const processes =
  'steward.butlerlabs.dev/component=migrate,tcp.steward.butlerlabs.dev/namespace=<namespace>,tcp.steward.butlerlabs.dev/name=<name>';

const stuck = toDo(
  'Repair what the Job says. To give up, set spec.dataStore back to the source: the previous state is restored. A failed migration is tried again when the annotation steward.butlerlabs.dev/retry-migration gets a new value.',
  `kubectl -n steward-system describe jobs -l ${processes}`,
  `kubectl -n steward-system logs -l ${processes} --tail=50`,
);

const where = 'condition Migrating of the TenantControlPlane';

/** What holds a migration, or why one failed; a migration that goes on is a cause only of what waits for it. */
export function migrationCause(situation: Situation): Cause | undefined {
  const { tenantControlPlane: tcp } = situation;
  const condition = conditionIn(tcp, 'Migrating');
  const record = tcp?.status?.storage?.migration;
  if (condition === undefined || record === undefined) return undefined;
  if (record.phase === 'Failed') {
    const found = { reason: 'MigrationFailed', where, what: condition.message, since: record.finishedAt };
    return causeWith(situation, found, stuck);
  }
  if (!isUnderWay(record)) return undefined;
  return stuckCause(situation, record, condition) ?? conditionCause(situation, 'TenantControlPlane', condition);
}

/** Why a migration under way does not get on: its pods, its last error, or the time that it has taken. */
function stuckCause(situation: Situation, record: MigrationStatus, { message }: Condition): Cause | undefined {
  const { migrationJob: job, now } = situation;
  const since = record.stepSince ?? record.startedAt;
  const reason = 'MigrationStuck';
  const pods = podCause({ ...situation, pods: situation.migrationPods }, { where: 'the Job of the migration' });
  if (pods !== undefined && !pods.passes)
    return causeWith(situation, { reason, where: pods.where, what: pods.what, since: pods.since ?? since }, stuck);
  const problem = job?.metadata.annotations?.[annotations.migrationProblem];
  if (problem !== undefined && problem !== '') {
    return causeWith(situation, { reason, where: `Job ${job?.metadata.name ?? ''}`, what: problem, since }, stuck);
  }
  const isCopying = record.phase === 'Copying' || record.phase === 'Following';
  if (!isCopying && now.getTime() - Date.parse(since) > patienceMs) {
    const what = `the migration has been ${record.phase} for a long time: ${message}`;
    return causeWith(situation, { reason, where, what, since }, stuck);
  }
  return undefined;
}
