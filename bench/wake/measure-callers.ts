import type { ManagementCluster } from '../../e2e/cluster/management-cluster.ts';
import { isCondition, versionAt } from '../../e2e/framework/tenant-stage.ts';
import { idleMachine } from '../footprint/idle.ts';
import { idleShare, idleWithinMs } from './measure-first.ts';
import { Sleepers } from './sleepers.ts';
import type { CallersRow } from './wake-rows.ts';

const namespace = 'wake-callers';
const name = 'many';

/** Who call at once. */
const callers = 100;

/** Lets a hundred callers call one control plane that sleeps, all at once. */
export async function measureCallers(cluster: ManagementCluster, rounds: number): Promise<readonly CallersRow[]> {
  await using sleepers = await Sleepers.open(cluster, namespace);
  const { stage } = sleepers;
  await sleepers.add([stage.manifest(name)]);
  const { controlPlaneEndpoint: endpoint = '' } = await stage.waitFor(name, 'Ready');
  const ca = (await stage.secret(`${name}-ca`))['ca.crt'] ?? '';
  const rows: CallersRow[] = [];
  for (let round = 1; round <= rounds; round += 1) {
    await sleepers.letSleep(name);
    await sleepers.untilAsleep(name);
    await sleepers.untilLed(name);
    await idleMachine(idleShare, idleWithinMs);
    const before = await sleepers.seen(name);
    const answers = await callAtOnce(() => versionAt(endpoint, ca));
    if (answers.answeredMs.length > 0) await stage.waitFor(name, isCondition('Ready', 'True'));
    const after = await sleepers.seen(name);
    const row: CallersRow = { stage: 'callers', round, callers, ...answers, wakes: after.wakes - before.wakes };
    cluster.harness.progress(`${callers} callers, round ${round} of ${rounds}`, describe(row));
    rows.push(row);
    // What a call has begun ends when it is seen with a schedule that says that it is awake.
    await sleepers.stopByHand(name);
    await sleepers.stage.untilNoPods(name);
  }
  return rows;
}

async function callAtOnce(call: () => Promise<unknown>): Promise<Pick<CallersRow, 'answeredMs' | 'failures'>> {
  const began = performance.now();
  const answers = await Promise.all(
    Array.from({ length: callers }, () =>
      call().then(
        () => performance.now() - began,
        (error: unknown) => (error as Error).message,
      ),
    ),
  );
  return {
    answeredMs: answers.filter((answer) => typeof answer === 'number').toSorted((a, b) => a - b),
    failures: answers.filter((answer) => typeof answer === 'string'),
  };
}

function describe({ answeredMs, failures, wakes }: CallersRow): string {
  const times = [answeredMs[0], answeredMs.at(-1)].map((ms = Number.NaN) => (ms / 1000).toFixed(1));
  return `${answeredMs.length} answered after ${times.join(' to ')} s, ${failures.length} not (${failures[0] ?? ''}), ${wakes} wakes`;
}
