import type { Presentation } from './presentation.ts';
import { textTable } from './text-table.ts';

/** One line of the comparison with the Go Steward, as `bench/results/go-steward.json` has it. Texts with units in `figure`. */
interface GoStewardRow {
  readonly figure: string;
  readonly ours: string;
  readonly goSteward: string;
  readonly ratio: string;
}

/** What was measured of the Go Steward and of this one in one run. */
export const goStewardPresentation: Presentation<GoStewardRow> = {
  name: 'go-steward',
  title: 'Beside the Go Steward, in one run',
  report: (rows) =>
    [
      'Two management clusters of one node each on the same machine, measured in turn and in changing order while the other one was idle.',
      'One tenant of v1.35.0, whose images have the programs of v1.36.3, with one replica, ClusterIP, CoreDNS and kube-proxy, on the',
      'quick-start etcd; images were present. Two clusters',
      'share two cores, so that all times are longer than elsewhere on this page. Least / median / most of four unless it says once.',
      `\n${textTable(
        ['figure', 'Steward', 'Go Steward', 'Steward / Go Steward'],
        rows.map(({ figure, ours, goSteward, ratio }) => [figure, ours, goSteward, ratio]),
      )}`,
    ].join('\n'),
};
