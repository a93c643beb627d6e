import { percentile } from '../report/percentile.ts';
import type { Headline, Presentation } from '../report/presentation.ts';
import { textTable } from '../report/text-table.ts';
import { reachesOf, reconcileRequests, verdictOf } from './reaches.ts';
import type { Reach } from './reaches.ts';
import { rowsOf, spreadOut, total } from './scale-rows.ts';
import type { CreationCost, EventRow, RestRow, ScaleRow } from './scale-rows.ts';

const seconds = (ms: number): string => (ms / 1000).toFixed(1);
const middleAndEnds = (values: readonly number[], show: (value: number) => string): string =>
  values.length === 0
    ? ''
    : `${show(percentile(values, 50))} (${show(percentile(values, 0))} to ${show(percentile(values, 100))})`;

/** Each figure with its reach, and what it is made of. */
function scaleReport(rows: readonly ScaleRow[]): string {
  const reaches = textTable(
    ['figure', 'tenants', 'measured', 'reach', 'met'],
    reachesOf(rows).map((reach) => reachLine(reach)),
  );
  const [rest, events] = [rowsOf(rows, 'rest'), rowsOf(rows, 'events')];
  return [
    `${who(rows)} with many tenants: real management cluster and etcds, tenants' API servers answered by a stand-in, no pods.`,
    '[How it is measured](scale.md). "So far": within the reach, with fewer tenants than it has to hold for.\n',
    reaches,
    ...(rest.length === 0 ? [] : [`\nAt rest, for each number of tenants:\n\n${restTable(rest)}`]),
    ...(events.length === 0 ? [] : [`\nWhat follows an event:\n\n${eventTable(events)}`]),
    ...rows.filter(({ stage }) => stage !== 'rest' && stage !== 'events').map((row) => `\n${scaleLine(row)}.`),
  ].join('\n');
}

/** Who was measured. */
function who(rows: readonly ScaleRow[]): string {
  const { managers = 1 } = rows[0] ?? {};
  return managers === 1 ? 'One manager' : `${managers} managers that share them (\`--shards\`)`;
}

function reachLine(reach: Reach): readonly string[] {
  const { figure, value, digits, bound, isLeast = false, tenants } = reach;
  const sign = isLeast ? '≥' : '≤';
  return [figure, String(tenants), value.toFixed(digits), bound === 0 ? '0' : `${sign} ${bound}`, verdictOf(reach)];
}

const restHeads = [
  ...['tenants', 'RSS, MiB', 'heap, MiB', 'CPU, %', 'management requests/min'],
  ...['calls', 'lists and watches', 'probes', 'connections, median', 'most', 'lag p99, ms'],
];

function restTable(rows: readonly RestRow[]): string {
  const lines = rows.map((row) => {
    const { call, line, probe } = row.tenantRequests;
    const each = (requests: number): string =>
      row.tenants === 0 ? '' : ((requests / row.seconds / row.tenants) * 60).toFixed(2);
    const connections = spreadOut(row.connections);
    return [
      ...[String(row.tenants), row.rssMiB.toFixed(0), row.heapMiB.toFixed(0), row.cpuPercent.toFixed(1)],
      ((total(row.managementRequests) / row.seconds) * 60).toFixed(0),
      ...[call, line, probe].map(each),
      ...[50, 100].map((p) => (connections.length === 0 ? '' : percentile(connections, p).toFixed(0))),
      row.lagP99Ms.toFixed(0),
    ];
  });
  const idle = rows[0]?.idleSeconds ?? 0;
  return `${textTable(restHeads, lines)}\n\nAfter ${idle} s of rest. Calls, lists and watches, and probes are requests to each tenant's API server a minute.`;
}

function eventTable(rows: readonly EventRow[]): string {
  const heads = ['event', 'tenants', 'concerned', 'reconciles', 'management requests'];
  return textTable(
    heads,
    rows.map(({ event, ...row }) => [
      event,
      ...[row.tenants, row.concerned, row.reconciles, row.managementRequests].map(String),
    ]),
  );
}

/** One row in a line. */
export function scaleLine(row: ScaleRow): string {
  const { tenants } = row;
  const loop = `lag of the event loop p99 ${row.lagP99Ms.toFixed(0)} ms, at most ${row.lagMaxMs.toFixed(0)} ms`;
  switch (row.stage) {
    case 'standin':
      return `${tenants} tenants of the stand-in, each created alone, against as many with real API servers: ${costText(row.standIn)}, against ${costText(row.real)}`;
    case 'rest':
      return `${tenants} tenants at rest: RSS ${row.rssMiB.toFixed(0)} MiB, CPU ${row.cpuPercent.toFixed(1)} %, ${total(row.managementRequests)} management requests and ${total(row.tenantRequests)} tenant requests in ${row.seconds.toFixed(0)} s, connections ${middleAndEnds(spreadOut(row.connections), String)}; ${loop}`;
    case 'throughput':
      return `${tenants} tenants created at once: Ready after ${middleAndEnds(row.readyMs, seconds)} s, CPU ${row.cpuSeconds.toFixed(1)} s, ${total(row.managementRequests)} management requests (${named(row.managementRequests)}), ${reconcileRequests(row.tenantRequests)} tenant requests; ${loop}`;
    case 'delete':
      return `${tenants} tenants deleted at once: gone after ${seconds(row.goneMs)} s, what they owned after ${seconds(row.collectedMs)} s, left: ${named(row.left)}; RSS ${row.rssMiB.map((value) => value.toFixed(0)).join(' MiB before and ')} MiB after; ${loop}`;
    case 'restart':
      return `manager started again over ${tenants} tenants: all looked at after ${seconds(row.lookedAtMs)} s, writes: ${named(row.writes)}, changes of persons answered after ${middleAndEnds(row.answeredMs, seconds)} s; ${loop}`;
    case 'onemore':
      return `one more of ${tenants} tenants: Ready after ${middleAndEnds(row.aloneMs, seconds)} s alone, ${middleAndEnds(row.amongMs, seconds)} s while all others roll, which takes ${middleAndEnds(row.rolledMs, seconds)} s; ${loop}`;
    case 'events':
      return `${row.event}, which concerns ${row.concerned} of ${tenants} tenants: ${row.reconciles} reconciles, ${row.managementRequests} management requests; ${loop}`;
  }
}

function costText(costs: readonly CreationCost[]): string {
  const median = (value: (cost: CreationCost) => number): string => percentile(costs.map(value), 50).toFixed(0);
  return [
    `CPU ${median(({ cpuMs }) => cpuMs)} ms`,
    `${median(({ managementRequests }) => total(managementRequests))} management requests`,
    `${median(({ tenantCalls }) => total(tenantCalls))} calls of the tenant`,
    `Ready after ${median(({ readyMs }) => readyMs)} ms`,
  ].join(', ');
}

function named(counts: Readonly<Record<string, number>>): string {
  const some = Object.entries(counts).filter(([, count]) => count !== 0);
  return some.length === 0 ? 'none' : some.map(([name, count]) => `${count} ${name}`).join(', ');
}

function headlines(rows: readonly ScaleRow[]): readonly Headline[] {
  const wanted = ['memory of the manager for each tenant', 'CPU at rest', 'created at once', 'deleted at once'];
  return reachesOf(rows)
    .filter(({ figure }) => wanted.some((start) => figure.startsWith(start)))
    .map(({ figure, value, digits, tenants }) => ({
      figure: `${who(rows)}, ${tenants} tenants: ${figure}`,
      value: value.toFixed(digits),
    }));
}

/** The benchmark of one manager with many tenants. */
export const scalePresentation: Presentation<ScaleRow> = {
  name: 'scale',
  title: 'One manager with a thousand tenants',
  report: scaleReport,
  headlines,
};

/** Whether something is left of deleted tenants, or a started manager wrote what needed no write. */
export function breaksPromise(rows: readonly ScaleRow[]): boolean {
  const isLeft = rowsOf(rows, 'delete').some(({ left }) => Object.values(left).some((count) => count !== 0));
  return isLeft || rowsOf(rows, 'restart').some(({ writes }) => total(writes) > 0);
}
