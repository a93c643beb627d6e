import type { Presentation } from '../report/presentation.ts';
import { textTable } from '../report/text-table.ts';
import { mostLostMs } from './recorded-history.ts';
import type { RestoreRow } from './restore-rows.ts';

/** How long a restore may take for each 100 MB, in seconds. */
const mostSeconds = 15;

const heads = [
  ...['datastore', 'objects', 'MB', 'writes', 'a second', 'RPO s', 'lost', 'older than 10 s', 'restored after s'],
  ...['of it data', 's per 100 MB', 'first write after s', 'worker back after s', 'compared', 'different', 'within'],
];

const secondHeads = [
  ...[
    'datastore',
    'chosen second',
    'restored after s',
    'of it data',
    's per 100 MB',
    'state of s before',
    'missing writes',
  ],
  ...['later writes', 'compared', 'different', 'within'],
];

/** Seconds for each 100 MB. Less data counts as that much: pods have to start. */
function perHundred({ completeMs, bytes }: { readonly completeMs: number; readonly bytes: number }): number {
  return bytes === 0 ? Infinity : completeMs / 1000 / Math.max(bytes / 1e8, 1);
}

/** True when more was lost, or it took longer, than allowed. */
export function isBeyondBounds(row: RestoreRow): boolean {
  return row.problem !== undefined || isLatestBroken(row) || isChosenBroken(row);
}

function isLatestBroken({ latest, worker, bytes }: RestoreRow): boolean {
  const { rpoMs, lostOlder, completeMs, differences } = latest;
  const isSlow = perHundred({ completeMs, bytes }) > mostSeconds;
  const isWorkerLost = worker.backMs === undefined || !worker.isSame;
  return rpoMs > mostLostMs || lostOlder > 0 || isSlow || differences.length > 0 || isWorkerLost;
}

function isChosenBroken({ chosen }: RestoreRow): boolean {
  const { missing, early, differences } = chosen;
  return missing > 0 || early > 0 || differences.length > 0 || perHundred(chosen) > mostSeconds;
}

function restoreReport(rows: readonly RestoreRow[]): string {
  const measured = rows.filter(({ problem }) => problem === undefined);
  const found = rows.flatMap(({ store, problem, latest, chosen }) => [
    ...(problem === undefined ? [] : [`${store} was not measured: ${problem}`]),
    ...[latest, chosen].flatMap(({ differences: [first] }) => (first === undefined ? [] : [`${store}: ${first}`])),
  ]);
  return [
    'A tenant with a BackupPolicy and a worker, while one client creates, overwrites and deletes ConfigMaps and records each answer. Its TenantControlPlane is',
    'deleted with all data and keys, and created again by a TenantRestore. "RPO": from the newest acknowledged write before which none is lost to the last one',
    'that was acknowledged at all. "restored after": from the creation of the TenantRestore until it is Complete, with the comparison of every key; "data": written and',
    'compared. "worker": with the same kubelet and pod, which were not started again. "compared": objects whose whole text is that of before, or that of the last write.\n',
    textTable(heads, measured.map(latestLine)),
    '\nA second in the middle of the writes, restored into another control plane. "state of s before": how long before the chosen second the history was exactly as the',
    'restored tenant; 0: at that second. "missing": acknowledged before it and not there; "later": begun after it and there.\n',
    textTable(secondHeads, measured.map(chosenLine)),
    ...(found.length === 0 ? [] : ['', ...found.map((line) => `- ${line.slice(0, 500)}`)]),
  ].join('\n');
}

function latestLine(row: RestoreRow): readonly string[] {
  const { store, objects, bytes, history, latest, worker } = row;
  return [
    ...[store, String(objects), (bytes / 1e6).toFixed(1), String(history.acknowledged), history.perSecond.toFixed(0)],
    ...[inSeconds(latest.rpoMs), String(latest.lost), String(latest.lostOlder), inSeconds(latest.completeMs)],
    ...[inSeconds(latest.dataMs), perHundred({ completeMs: latest.completeMs, bytes }).toFixed(1)],
    inSeconds(latest.firstWriteMs),
    worker.backMs === undefined ? 'never' : worker.isSame ? inSeconds(worker.backMs) : 'started again',
    ...[String(latest.compared), String(latest.differences.length), isLatestBroken(row) ? 'no' : 'yes'],
  ];
}

function chosenLine(row: RestoreRow): readonly string[] {
  const { store, chosen } = row;
  return [
    ...[store, chosen.moment, inSeconds(chosen.completeMs), inSeconds(chosen.dataMs), perHundred(chosen).toFixed(1)],
    ...[(chosen.beforeMs / 1000).toFixed(3), String(chosen.missing), String(chosen.early), String(chosen.compared)],
    ...[String(chosen.differences.length), isChosenBroken(row) ? 'no' : 'yes'],
  ];
}

const inSeconds = (ms: number): string => (ms / 1000).toFixed(1);

/** The benchmark of tenants that are destroyed and restored. */
export const restorePresentation: Presentation<RestoreRow> = {
  name: 'restore',
  title: 'What a destroyed tenant loses, and how long its restore takes',
  report: restoreReport,
  headlines: (rows) => {
    const measured = rows.filter(({ problem }) => problem === undefined);
    if (measured.length === 0) return [];
    const worst = (of: (row: RestoreRow) => number): number => Math.max(...measured.map(of));
    return [
      {
        figure: `Writes of the last seconds that a destroyed and restored tenant lost, s (worst of ${measured.length} datastores)`,
        value: inSeconds(worst(({ latest }) => latest.rpoMs)),
      },
      {
        figure: 'Its restore, s per 100 MB (worst)',
        value: worst(({ bytes, latest: { completeMs } }) => perHundred({ bytes, completeMs })).toFixed(1),
      },
    ];
  },
};
