import { medianAndWorst } from '../report/median-and-worst.ts';
import { percentile } from '../report/percentile.ts';
import type { Headline, Presentation } from '../report/presentation.ts';
import { textTable } from '../report/text-table.ts';

/** Many control planes that were created at once, and deleted at once. All times in milliseconds. */
export interface BurstRow {
  readonly contender: 'Steward' | 'own pods by hand';
  readonly tenants: number;
  readonly round: number;
  /** Of each control plane, ascending, after all were requested. */
  readonly readyMs: readonly number[];
  /** Until `kubectl delete` of all of them has ended. */
  readonly goneMs: number;
  /** Until there is no pod anymore, from the same time on. */
  readonly podsGoneMs: number;
  /** What was left in the datastore then: keys below the prefixes of these tenants, their users and roles. Of Steward only. */
  readonly left?: { readonly keys: number; readonly users: number; readonly roles: number };
}

/** True when deleted tenants have left something in the datastore. */
export function hasLeftovers({ left }: BurstRow): boolean {
  return left !== undefined && left.keys + left.users + left.roles > 0;
}

const values = {
  first: ({ readyMs }: BurstRow) => percentile(readyMs, 0),
  median: ({ readyMs }: BurstRow) => percentile(readyMs, 50),
  last: ({ readyMs }: BurstRow) => percentile(readyMs, 100),
  gone: ({ goneMs }: BurstRow) => goneMs,
  podsGone: ({ podsGoneMs }: BurstRow) => podsGoneMs,
} as const;

const seconds = (ms: number): string => (ms / 1000).toFixed(1);

const heads = [
  ...['tenants', 'way', 'round', 'first Ready', 'median', 'last', 'median / last'],
  ...['gone', 'pods gone', 'left in etcd'],
];

function burstReport(rows: readonly BurstRow[]): string {
  const lines = rows.map((row) => [
    ...[String(row.tenants), row.contender, String(row.round)],
    ...[values.first(row), values.median(row), values.last(row)].map(seconds),
    (values.median(row) / values.last(row)).toFixed(2),
    ...[values.gone(row), values.podsGone(row)].map(seconds),
    row.left === undefined ? '' : leftText(row.left),
  ]);
  return [
    'Control planes with one replica, created by one request each, all at once, and then deleted by one `kubectl delete`. Seconds.',
    'By hand: the same Deployments and Services with ready-made Secrets, and nobody who starts them in turn.',
    `\n${textTable(heads, lines)}`,
  ].join('\n');
}

function leftText({ keys, users, roles }: NonNullable<BurstRow['left']>): string {
  return keys + users + roles === 0 ? 'nothing' : `${keys} keys, ${users} users, ${roles} roles`;
}

function headlines(rows: readonly BurstRow[]): readonly Headline[] {
  return [...Map.groupBy(rows, ({ tenants }) => tenants)].flatMap(([tenants, own]) => headlinesOf(tenants, own));
}

function headlinesOf(tenants: number, rows: readonly BurstRow[]): readonly Headline[] {
  const line = (figure: string, value: (row: BurstRow) => number): Headline => {
    const of = (contender: BurstRow['contender']): readonly number[] =>
      rows.filter((row) => row.contender === contender).map(value);
    const [ours, floor] = [of('Steward'), of('own pods by hand')];
    const times = floor.length === 0 ? '' : (percentile(ours, 50) / percentile(floor, 50)).toFixed(2);
    return { figure, value: medianAndWorst(ours, 1), floor: medianAndWorst(floor, 1), times };
  };
  // Deployments by hand are gone at once, and nobody removes data.
  const gone = line(`\`kubectl delete\` of ${tenants} tenants, their data included, s`, values.gone);
  return [
    line(`${tenants} tenants at once: the first is Ready, s`, values.first),
    line(`${tenants} tenants at once: half of them are Ready, s`, values.median),
    line(`${tenants} tenants at once: all of them are Ready, s`, values.last),
    { figure: gone.figure, value: gone.value },
    line(`\`kubectl delete\` of ${tenants} tenants, until their pods are gone, s`, values.podsGone),
  ];
}

/** The benchmark of many control planes at once. */
export const burstPresentation: Presentation<BurstRow> = {
  name: 'burst',
  title: 'Many tenants at once, and their deletion',
  report: burstReport,
  headlines,
};
