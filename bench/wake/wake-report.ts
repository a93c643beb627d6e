import { percentile } from '../report/percentile.ts';
import type { Headline, Presentation } from '../report/presentation.ts';
import { textTable } from '../report/text-table.ts';
import { isMet, mostOf, reachesOf } from './wake-reaches.ts';
import type { Reach } from './wake-reaches.ts';
import { clientNames, endpointTypes, rowsOf } from './wake-rows.ts';
import type {
  ActivatorMemory,
  CallersRow,
  FirstRow,
  HostileRow,
  NeighborCalls,
  SleepingRow,
  WakeRow,
} from './wake-rows.ts';

const seconds = (ms: number): string => (ms / 1000).toFixed(1);

/** The median, with the least and the most. */
function spread(values: readonly number[], show: (value: number) => string = seconds): string {
  if (values.length === 0) return '';
  const [least = '', median = '', most = ''] = [0, 50, 100].map((p) => show(percentile(values, p)));
  return `${median} (${least} to ${most})`;
}

function wakeReport(rows: readonly WakeRow[]): string {
  const [first, sleeping] = [rowsOf(rows, 'first'), rowsOf(rows, 'sleeping')];
  return [
    'Control planes without pods, which are woken up by their first call through the activator. Tenants have one replica and the quick-start etcd. Times depend on',
    'the machine; `--check` looks at all else.\n',
    textTable(['figure', 'measured', 'reach', 'met'], reachesOf(rows).map(reachLine)),
    ...(first.length === 0 ? [] : [`\n${firstTable(first)}`]),
    ...rowsOf(rows, 'callers').map((row) => `\n${callersLine(row)}`),
    ...(sleeping.length === 0 ? [] : [`\n${sleepingTable(sleeping)}`]),
    ...rowsOf(rows, 'hostile').map((row) => `\n${hostileText(row)}`),
  ].join('\n');
}

function reachLine(reach: Reach): readonly string[] {
  const { figure, value, digits, most, least, isTime } = reach;
  const bound = most === 0 || least === most ? String(most) : `≤ ${most}`;
  const verdict = isMet(reach) ? 'yes' : 'no';
  return [figure, value.toFixed(digits), bound, isTime === true && verdict === 'no' ? 'no (a time)' : verdict];
}

function firstTable(rows: readonly FirstRow[]): string {
  const line = (what: string, some: readonly FirstRow[]): readonly (readonly string[])[] => {
    const answered = some.flatMap(({ answeredMs }) => answeredMs ?? []);
    const byHand = some.map(({ byHandMs }) => byHandMs);
    if (answered.length === 0) return [];
    const times = (percentile(answered, 50) / percentile(byHand, 50)).toFixed(2);
    return [[what, spread(answered), spread(byHand), times, String(some.length)]];
  };
  const table = textTable(
    ['first answer', 'asleep, s', 'by hand, s', 'asleep / by hand', 'calls'],
    [
      ...endpointTypes.flatMap((endpoint) =>
        line(
          `through ${endpoint}`,
          rows.filter((row) => row.endpoint === endpoint),
        ),
      ),
      ...clientNames.flatMap((client) =>
        line(
          `to ${client}`,
          rows.filter((row) => row.client === client),
        ),
      ),
    ],
  );
  const failures = rows.flatMap(({ endpoint, client, round, failure }) =>
    failure === undefined ? [] : [`- ${client} through ${endpoint}, round ${round}: ${failure}`],
  );
  return [
    table,
    '\nMedian (least to most). Each command is run once, as it is: `kubectl get namespaces`, `helm list`, which is a program with client-go, and `curl` of `/readyz` without `--retry`.',
    'By hand, somebody scales from 0 to 1 and begins the same command when the pod is Ready.',
    ...(failures.length === 0 ? [] : ['', ...failures]),
  ].join('\n');
}

function callersLine({ round, callers, answeredMs, failures, wakes }: CallersRow): string {
  const answers =
    answeredMs.length === 0
      ? 'no answer'
      : `the first answer after ${seconds(percentile(answeredMs, 0))} s, half of them after ${seconds(percentile(answeredMs, 50))} s, the last after ${seconds(percentile(answeredMs, 100))} s`;
  const failed = failures.length === 0 ? '' : `; ${failures.length} without an answer, the first: ${failures[0] ?? ''}`;
  return `${callers} callers at once, round ${round}: ${answers}; woken up ${wakes} time${wakes === 1 ? '' : 's'}${failed}.`;
}

function sleepingTable(rows: readonly SleepingRow[]): string {
  const lines = rows.map((row) => [
    ...[`${row.tenants} ${row.state}`, String(row.pods)],
    ...[row.podsAnonymousMiB, row.podsPssMiB, row.podsMilliCpu].map((value) => value.toFixed(0)),
    ...[row.manager.rssMiB, row.manager.anonymousMiB].map((value) => value.toFixed(0)),
    row.manager.milliCpu.toFixed(1),
    row.manager.requestsPerSecond?.toFixed(2) ?? '',
    ...(['pssMiB', 'ownMiB'] as const).map((field) => mostOf(row.activatorMiB, field).toFixed(0)),
  ]);
  const table = textTable(
    [
      ...['tenants', 'pods', 'their memory, own, MiB', 'with shared, MiB', 'their CPU, mCPU'],
      ...['manager: RSS, MiB', 'own, MiB', 'CPU, mCPU', 'requests/s', 'activator, MiB', 'own, MiB'],
    ],
    lines,
  );
  const saved = rows.flatMap(({ state, tenants, podsAnonymousMiB, podsMilliCpu }) =>
    state === 'asleep' || tenants === 0
      ? []
      : [
          `\nSleep saves ${(podsAnonymousMiB / tenants).toFixed(0)} MiB of memory and ${(podsMilliCpu / tenants).toFixed(0)} thousandths of a core for each tenant.`,
        ],
  );
  const rest = spread(
    rows.map((row) => row.seconds),
    (value) => value.toFixed(0),
  );
  return [
    table,
    `\nAt rest, each looked at for ${rest} s, with a manager that was started again before. "own": anonymous memory; "with shared": pages that several processes share count in part. "activator": the one that has most, with its part of the program, which all processes of Node share.`,
    ...saved,
  ].join('\n');
}

function hostileText(row: HostileRow): string {
  const { hellos, tenants, activatorMiB, neighbor, passed } = row;
  const said = Object.entries(hellos)
    .map(([kind, count]) => `${count} ${kind}`)
    .join(', ');
  const outcomes = Object.entries(row.outcomes)
    .filter(([, count]) => count > 0)
    .map(([outcome, count]) => `${count} ${outcome}`)
    .join(', ');
  const memory = (found: ActivatorMemory): string =>
    `${mostOf(found).toFixed(0)} MiB (${mostOf(found, 'ownMiB').toFixed(0)} of its own)`;
  const table = textTable(
    ['calls of the neighbor', 'p50, ms', 'p99, ms', 'most, ms', 'calls', 'failed'],
    [neighborLine('alone', neighbor.alone), neighborLine('beside the hellos', neighbor.beside)],
  );
  return [
    `Hostile hellos at ${tenants} sleeping tenants in ${row.seconds.toFixed(0)} s: ${said}; ${row.refused} connections were refused, ${row.unclosed} not closed within 10 s. The activator counted ${outcomes}.`,
    `The activator that had most: ${memory(activatorMiB.before)} before, ${memory(activatorMiB.peak)} at most, ${memory(activatorMiB.after)} after a rest. Who said the hellos used ${row.cpuPercent.toFixed(0)} % of one core.`,
    `\n${table}\n`,
    `The neighbor is called twenty times a second. Its first call woke it up, so that ${passed} of its connections lead${passed === 1 ? 's' : ''} through the activator meanwhile.`,
  ].join('\n');
}

function neighborLine(when: string, { callsMs, failed }: NeighborCalls): readonly string[] {
  const found = callsMs.length === 0 ? ['', '', ''] : [50, 99, 100].map((p) => percentile(callsMs, p).toFixed(0));
  return [when, ...found, String(callsMs.length), String(failed.length)];
}

/** Whether something woke up that should not, somebody was not answered, or an activator holds too much. Times do not count. */
export function breaksPromise(rows: readonly WakeRow[]): boolean {
  return rows.length === 0 || reachesOf(rows).some((reach) => reach.isTime !== true && !isMet(reach));
}

function headlines(rows: readonly WakeRow[]): readonly Headline[] {
  const first = rowsOf(rows, 'first');
  const answered = first.flatMap(({ answeredMs }) => answeredMs ?? []);
  const byHand = first.map(({ byHandMs }) => byHandMs);
  const awake = rowsOf(rows, 'sleeping').find(({ state, tenants }) => state === 'awake' && tenants > 0);
  const worst = (values: readonly number[]): string =>
    `${seconds(percentile(values, 50))} (${seconds(percentile(values, 100))})`;
  return [
    ...(answered.length === 0
      ? []
      : [
          {
            figure:
              'First answer of a control plane that sleeps, all endpoints and clients, s; floor: scaled up by hand',
            ...{ value: worst(answered), floor: worst(byHand) },
            times: (percentile(answered, 50) / percentile(byHand, 50)).toFixed(2),
          },
        ]),
    ...rowsOf(rows, 'callers')
      .slice(0, 1)
      .map(({ callers, answeredMs }) => ({
        figure: `The last of ${callers} callers at once of a control plane that sleeps, s`,
        value: answeredMs.length === 0 ? 'never' : seconds(percentile(answeredMs, 100)),
      })),
    ...(awake === undefined
      ? []
      : [
          {
            figure: 'Memory that sleep saves for each control plane, anonymous, MiB',
            value: (awake.podsAnonymousMiB / awake.tenants).toFixed(0),
          },
        ]),
  ];
}

/** The benchmark of control planes that sleep, and wake up with a call. */
export const wakePresentation: Presentation<WakeRow> = {
  name: 'wake',
  title: 'Control planes that sleep and wake up with the first call',
  report: wakeReport,
  headlines,
};
