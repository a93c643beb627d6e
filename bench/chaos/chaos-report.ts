import type { Presentation } from '../report/presentation.ts';
import { percentile } from '../report/percentile.ts';
import { textTable } from '../report/text-table.ts';
import { faultKinds } from './chaos-rows.ts';
import type { ChaosRow } from './chaos-rows.ts';

/** The memory in the last third of a run against the first, at most. */
const mostGrowth = 1.15;

/** Whether something did not converge, is there twice, is lost, or memory grows. */
export function isBroken({ convergedMs, unconverged, doubled, missing, writes, rssMiB }: ChaosRow): boolean {
  const isWrong = convergedMs === undefined || [unconverged, doubled, missing].some(({ length }) => length > 0);
  return isWrong || writes.lost > 0 || growth(rssMiB) > mostGrowth;
}

/** Medians of the last third and of the first; 1 for a run that is too short. */
export function growth(rssMiB: readonly number[]): number {
  const third = Math.floor(rssMiB.length / 3);
  if (third === 0) return 1;
  return percentile(rssMiB.slice(-third), 50) / percentile(rssMiB.slice(0, third), 50);
}

const meanings: Readonly<Record<(typeof faultKinds)[number], string>> = {
  killed: 'a manager is killed (SIGKILL), and started again after up to 30 s',
  hung: 'a manager is stopped (SIGSTOP) for 5 to 45 s, and goes on',
  partitioned: 'nothing passes between a manager and the management API for 5 to 45 s; then all of it arrives',
  throttled: 'all requests of all managers are answered with 429 for 3 to 15 s',
  expired: 'all watches of all managers end with 410, and none may go on where it was, for 1 to 5 s',
  'store restarted': 'the etcd of the tenants is killed, and started again after up to 10 s',
};

function chaosReport(rows: readonly ChaosRow[]): string {
  return rows.map(reportOf).join('\n\n');
}

function reportOf(row: ChaosRow): string {
  const { tenants, managers, minutes, changes, writes, rssMiB, convergedMs, seed } = row;
  const odd = [...row.unconverged, ...row.doubled, ...row.missing];
  return [
    `${minutes} minutes with ${managers} managers${row.shards === true ? ' that share the tenants (`--shards`)' : ''} over ${tenants.standIn} tenants, whose API servers are [a stand-in](scale.md#the-stand-in-for-tenants-api-servers),`,
    `and ${tenants.real} with real API servers; seed ${seed}. People create, change and delete tenants throughout, and users of the real tenants write.`,
    'Memory is that of the largest manager, read each minute: medians of the first and of the last third of the run. Managers are killed and start again all the time, so that this shows no growth over hours.\n',
    textTable(
      ['fault', 'what happens', 'times'],
      faultKinds.map((kind) => [kind, meanings[kind], String(row.faults[kind])]),
    ),
    '',
    textTable(
      ['what came of it', ''],
      [
        ['tenants changed', String(changes.rolled)],
        ['tenants created', String(changes.created)],
        ['tenants deleted', String(changes.deleted)],
        ['requests of people that failed and were sent again', String(changes.repeated)],
        ...(row.shards === true ? [] : [['times that another manager took over', String(row.takeovers)]]),
        ['times that a manager ended by itself, and was started again', String(row.endedByThemselves)],
        [
          'time until all tenants were as asked for, after the end',
          convergedMs === undefined ? 'never' : `${seconds(convergedMs)} s`,
        ],
        ['tenants that were not as asked for', String(row.unconverged.length)],
        ['surplus objects', String(row.doubled.length)],
        ['missing objects', String(row.missing.length)],
        ['writes of users inside real tenants: acknowledged', String(writes.acknowledged)],
        ['writes of these users: refused, or without an answer', String(writes.failed)],
        ['writes of these users: acknowledged, then lost', String(writes.lost)],
        ['memory, first third', `${percentile(rssMiB.slice(0, Math.ceil(rssMiB.length / 3)), 50).toFixed(0)} MiB`],
        ['memory, last third / first third', growth(rssMiB).toFixed(2)],
        ['memory at rest afterwards', `${row.restedRssMiB.toFixed(0)} MiB`],
      ],
    ),
    ...(odd.length === 0 ? [] : ['', ...odd.map((line) => `- ${line}`)]),
  ].join('\n');
}

const seconds = (ms: number): string => (ms / 1000).toFixed(0);

/** The benchmark of faults over a fleet. */
export const chaosPresentation: Presentation<ChaosRow> = {
  name: 'chaos',
  title: 'Several managers while everything fails',
  report: chaosReport,
};
