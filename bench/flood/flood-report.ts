import { percentile } from '../report/percentile.ts';
import type { Presentation } from '../report/presentation.ts';
import { textTable } from '../report/text-table.ts';
import type { FloodRow, QuotaCounts } from './flood-rows.ts';

/** What a neighbor may notice, and how soon a quota must act; in milliseconds. */
const bounds = { neighborMs: 1000, deniedAfterMs: 10_000 } as const;

const heads = [
  ...['datastore', 'hostile tenant', 's', 'write ms p50', 'p99', 'most', 'read ms p50', 'p99', 'most', 'failed'],
  ...[
    'accepted',
    'denied',
    'limit after s',
    'deleted',
    'writes again after s',
    'CPU %',
    'file MiB',
    'most files',
    'memory MiB',
    'within',
  ],
];

/** True when the neighbor was harmed, or the quota did not do what it promises. */
export function isHarmful(row: FloodRow): boolean {
  const { writesMs, readsMs, failed, hostile, alarms = [] } = row;
  const isSlow = [writesMs, readsMs].some((all) => all.length === 0 || percentile(all, 99) >= bounds.neighborMs);
  const isUnlimited = hostile?.quota !== undefined && isQuotaBroken(hostile.quota);
  return isSlow || failed.length > 0 || alarms.length > 0 || isUnlimited || hostile?.isReady === false;
}

function isQuotaBroken({ deniedAfterMs, undeleted, deleted, writesAgainAfterMs, isWithinQuota }: QuotaCounts): boolean {
  const isLate = deniedAfterMs === undefined || deniedAfterMs > bounds.deniedAfterMs;
  return isLate || undeleted > 0 || deleted === 0 || writesAgainAfterMs === undefined || !isWithinQuota;
}

/** What a neighbor noticed of a hostile tenant, as a table. */
function floodReport(rows: readonly FloodRow[]): string {
  const alarms = rows.filter(({ alarms: found }) => found !== undefined);
  const raised = alarms.flatMap(({ alarms: found = [] }) => found);
  const failures = rows.flatMap(({ store, attack, failed: [first], failed, hostile }) => [
    ...(first === undefined
      ? []
      : [`${store}, ${attack}: ${failed.length} calls of the neighbor failed, the first: ${first}`]),
    ...(hostile?.failure === undefined
      ? []
      : [`${store}, ${attack}: ${hostile.failures} calls of the hostile tenant failed, the first: ${hostile.failure}`]),
  ]);
  return [
    'Two tenants of one DataStore: a neighbor with ten writes and ten reads a second, and a hostile one with a quota of 2000 objects and 32 MiB. Its',
    'client uses at most 60 % of one core of two, on which everything else runs too. "alone": the floor, while it does nothing. "config maps" and "events" are',
    'small objects, of config maps at least 100,000; "large objects" have 1 MiB, the most that an API server accepts; all are sent over 16 connections until one is',
    'denied, and on; "overwrites" are new versions of four large objects; "watches"',
    'are 200 of everything, each reopened every five seconds; "definitions" are up to 600 new kinds, each of them listed; "handshakes" are 200 connections that send one byte of TLS a second.',
    '"limit after": from the accepted write that reached the quota to the first that was denied. Then all is deleted, and written again. "file", "files", "memory": of etcd, at the end',
    'and the most meanwhile; connections are files.\n',
    textTable(heads, rows.map(lineOf)),
    ...(alarms.length === 0 ? [] : [`\nAlarms of etcd: ${raised.length === 0 ? 'none' : raised.join(', ')}.`]),
    ...(failures.length === 0 ? [] : ['', ...failures.map((line) => `- ${line}`)]),
  ].join('\n');
}

function lineOf(row: FloodRow): readonly string[] {
  const { store, attack, seconds, writesMs, readsMs, failed, hostile } = row;
  const quota = hostile?.quota;
  return [
    ...[store, attack, seconds.toFixed(0), ...spread(writesMs), ...spread(readsMs), String(failed.length)],
    ...(hostile === undefined ? ['', ''] : [String(hostile.accepted), String(hostile.denied)]),
    quota === undefined ? '' : inSeconds(quota.deniedAfterMs),
    quota === undefined ? '' : `${quota.deleted} of ${quota.deleted + quota.undeleted}`,
    quota === undefined ? '' : inSeconds(quota.writesAgainAfterMs),
    hostile === undefined ? '' : String(hostile.cpuPercent),
    ...[row.fileMiB, row.mostFiles, row.mostMemoryMiB].map((value) => (value === undefined ? '' : String(value))),
    isHarmful(row) ? 'no' : 'yes',
  ];
}

function spread(ms: readonly number[]): readonly string[] {
  return [50, 99, 100].map((p) => (ms.length === 0 ? '-' : percentile(ms, p).toFixed(0)));
}

function inSeconds(ms: number | undefined): string {
  return ms === undefined ? 'never' : (ms / 1000).toFixed(1);
}

/** The benchmark of tenants that flood what they share with others. */
export const floodPresentation: Presentation<FloodRow> = {
  name: 'flood',
  title: 'What a hostile tenant does to its neighbor in the same DataStore',
  report: floodReport,
  headlines: (rows) => {
    const attacked = rows.filter(({ attack }) => attack !== 'alone');
    const alone = rows.filter(({ attack }) => attack === 'alone');
    if (attacked.length === 0 || alone.length === 0) return [];
    const calls = rows.reduce(
      (sum, { writesMs, readsMs, failed }) => sum + writesMs.length + readsMs.length + failed.length,
      0,
    );
    const failed = rows.reduce((sum, row) => sum + row.failed.length, 0);
    const slowest = (all: readonly FloodRow[]): number =>
      Math.max(...all.map(({ writesMs }) => percentile(writesMs, 99)));
    const limits = attacked.flatMap(({ hostile }) =>
      hostile?.quota === undefined ? [] : [hostile.quota.deniedAfterMs],
    );
    return [
      {
        figure: `Failed calls of ${calls.toLocaleString('en')} beside a hostile tenant in the same DataStore`,
        value: String(failed),
      },
      {
        figure: 'Writes beside a hostile tenant, worst 99th percentile of all datastores and attacks, ms',
        value: slowest(attacked).toFixed(0),
        floor: slowest(alone).toFixed(0),
      },
      {
        figure: 'Longest time until a quota denies what exceeds it, s',
        value: limits.includes(undefined) ? 'never' : inSeconds(Math.max(...limits.map((ms) => ms ?? 0))),
      },
    ];
  },
};
