import { percentile } from '../report/percentile.ts';
import type { Headline, Presentation } from '../report/presentation.ts';
import { textTable } from '../report/text-table.ts';
import type { InstantRow } from './instant-rows.ts';
import { mostClaimMs } from './instant-rows.ts';

const seconds = (ms: number): string => (ms / 1000).toFixed(2);

/** p50, p99 and the worst of some times, in seconds; empty without any. */
const spread = (times: readonly number[]): readonly string[] =>
  times.length === 0 ? ['', '', ''] : [50, 99, 100].map((p) => seconds(percentile(times, p)));

function instantReport(rows: readonly InstantRow[]): string {
  return rows
    .map(({ claims, keys, idle, floorMs, reserve, version }) => {
      const table = textTable(
        ['from the request', 'p50', 'p99', 'max', 'samples'],
        [
          ['claim: kubeconfig', ...spread(claims.map(({ kubeconfigMs }) => kubeconfigMs)), String(claims.length)],
          ['claim: first `/readyz`', ...spread(claims.map(({ readyzMs }) => readyzMs)), String(claims.length)],
          ['without a pool: first `/readyz`', ...spread(floorMs), String(floorMs.length)],
        ],
      );
      const shared = keys.shared === 0 ? 'no key of two' : `**${keys.shared} keys of several**`;
      return [
        `Seconds until a control plane of Kubernetes ${version} with one replica answers, from a pool with ${reserve} in reserve, and without a pool. At most ${seconds(mostClaimMs)} s are allowed at the 99th percentile.`,
        `\n${table}\n`,
        `${keys.controlPlanes} control planes have ${keys.keys} private keys, and there is ${shared}.`,
        `In reserve, each of ${idle.controlPlanes} took ${idle.anonymousMiB.toFixed(0)} MiB of memory of its own (resident: ${idle.rssMiB.toFixed(0)} MiB) and ${idle.milliCpu.toFixed(0)} thousandths of a core, in ${idle.seconds.toFixed(0)} s.`,
      ].join('\n');
    })
    .join('\n\n');
}

/** Whether claims took too long, or control planes share a key. */
export function isTooSlowOrShared(rows: readonly InstantRow[]): boolean {
  return (
    rows.length === 0 ||
    rows.some(({ claims, keys }) => {
      const times = claims.map(({ readyzMs }) => readyzMs);
      return times.length === 0 || percentile(times, 99) > mostClaimMs || keys.shared > 0;
    })
  );
}

function headlines(rows: readonly InstantRow[]): readonly Headline[] {
  const [row] = rows;
  if (row === undefined || row.claims.length === 0) return [];
  const times = row.claims.map(({ readyzMs }) => readyzMs);
  const [ours, p99] = [percentile(times, 50), percentile(times, 99)];
  const floor = row.floorMs.length === 0 ? undefined : percentile(row.floorMs, 50);
  return [
    {
      figure:
        'From a claim to the first answer of its control plane, median (99th percentile), s; floor: created without a pool',
      value: `${seconds(ours)} (${seconds(p99)})`,
      ...(floor !== undefined && { floor: seconds(floor), times: (ours / floor).toFixed(2) }),
    },
    {
      figure: 'Memory of a prepared control plane, anonymous, MiB',
      value: row.idle.anonymousMiB.toFixed(0),
    },
  ];
}

/** The benchmark of prepared control planes. */
export const instantPresentation: Presentation<InstantRow> = {
  name: 'instant',
  title: 'A control plane from a pool',
  report: instantReport,
  headlines,
};
