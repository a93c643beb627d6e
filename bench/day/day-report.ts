import { percentile } from '../report/percentile.ts';
import type { Presentation } from '../report/presentation.ts';
import { textTable } from '../report/text-table.ts';
import type { DayRow } from './day-rows.ts';
import { savedBy } from './day-rows.ts';

const heads = [
  ...['tenant', 'used', 'awake h', 'asleep h', 'wakes by call', 'by others'],
  ...['first call s', 'longest s', 'other calls s', 'calls', 'failed'],
  ...['pod-hours saved', 'GiB-hours saved', 'CPU-hours saved'],
];

const seconds = (times: readonly number[], p: number): string =>
  times.length === 0 ? '' : (percentile(times, p) / 1000).toFixed(1);

function lineOf(row: DayRow): readonly string[] {
  const { podHours, gibHours, cpuHours } = savedBy(row);
  const { tenant, used, hours, hoursAsleep, wakes, firstMs, otherMs, failed } = row;
  return [
    ...[tenant, used, (hours - hoursAsleep).toFixed(1), hoursAsleep.toFixed(1)],
    ...[String(wakes.byRequest), String(wakes.bySchedule + wakes.byPerson)],
    ...[seconds(firstMs, 50), seconds(firstMs, 100), seconds(otherMs, 50)],
    ...[String(firstMs.length + otherMs.length + failed.length), String(failed.length)],
    ...[podHours.toFixed(1), gibHours.toFixed(1), cpuHours.toFixed(2)],
  ];
}

const sum = (values: readonly number[]): number => values.reduce((total, one) => total + one, 0);

function dayReport(rows: readonly DayRow[]): string {
  const saved = rows.map(savedBy);
  const total = [
    ...['all', '', sum(rows.map(({ hours, hoursAsleep }) => hours - hoursAsleep)).toFixed(1)],
    ...[sum(rows.map(({ hoursAsleep }) => hoursAsleep)).toFixed(1)],
    ...[String(sum(rows.map(({ wakes }) => wakes.byRequest)))],
    ...[String(sum(rows.map(({ wakes }) => wakes.bySchedule + wakes.byPerson)))],
    ...[
      seconds(
        rows.flatMap(({ firstMs }) => firstMs),
        50,
      ),
      seconds(
        rows.flatMap(({ firstMs }) => firstMs),
        100,
      ),
    ],
    ...[
      seconds(
        rows.flatMap(({ otherMs }) => otherMs),
        50,
      ),
    ],
    ...[String(sum(rows.map(({ firstMs, otherMs, failed }) => firstMs.length + otherMs.length + failed.length)))],
    ...[String(sum(rows.map(({ failed }) => failed.length)))],
    ...[sum(saved.map(({ podHours }) => podHours)).toFixed(1), sum(saved.map(({ gibHours }) => gibHours)).toFixed(1)],
    ...[sum(saved.map(({ cpuHours }) => cpuHours)).toFixed(2)],
  ];
  const pod = rows[0]?.pod ?? { memoryMiB: 0, cores: 0 };
  const failures = rows.flatMap(({ tenant, failed, late }) => [
    ...failed.map((text) => `\n${tenant}: ${text}`),
    ...late.map(
      (time) =>
        `\n${tenant}: it should have fallen asleep after ${time}, but still did not sleep, or still had pods, when the wait ended`,
    ),
  ]);
  return [
    "A day of tenants with one replica, `afterIdle: 5m` and `wakeOn: [Request]`, with the clocks of all processes moved between calls. A call is one `kubectl get namespaces`, the start of kubectl included. Once the clocks are more than six hours ahead, kubectl takes its cached discovery of the API for expired and asks again each time, because times of files are not moved. The process that moves clocks runs beside the calls. For two minutes after each first call nobody calls: otherwise watches that the control plane opens at its start could count as a person's, and it could stay awake up to an hour longer.",
    `\n${textTable(heads, [...rows.map(lineOf), total])}\n`,
    `Before the day, with clocks that were not moved, an idle pod took ${pod.memoryMiB.toFixed(0)} MiB of memory of its own and ${(pod.cores * 1000).toFixed(0)} thousandths of a core, by which the last two columns were computed.`,
    ...failures,
  ].join('\n');
}

/** The benchmark of a day. */
export const dayPresentation: Presentation<DayRow> = {
  name: 'day',
  title: 'A day of tenants that sleep when nobody calls',
  report: dayReport,
  headlines: (rows) => {
    if (rows.length === 0) return [];
    const asleep = sum(rows.map(({ hoursAsleep }) => hoursAsleep));
    const first = rows.flatMap(({ firstMs }) => firstMs);
    return [
      {
        figure: `Share of a day in which ${rows.length} tenants slept (office hours, a nightly job, two idle ones), %`,
        value: ((asleep / sum(rows.map(({ hours }) => hours))) * 100).toFixed(0),
      },
      ...(first.length === 0
        ? []
        : [{ figure: 'Longest wait of the first caller of that day, s', value: seconds(first, 100) }]),
    ];
  },
};
