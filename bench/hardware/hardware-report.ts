import type { Headline, Presentation } from '../report/presentation.ts';
import { textTable } from '../report/text-table.ts';
import type { Availability, HardwareRow, Part, Way } from './hardware-rows.ts';

const names: Readonly<Record<Part, string>> = {
  'control planes': 'kube-apiserver, kube-controller-manager, kube-scheduler',
  etcd: 'etcd',
  manager: 'manager of Steward',
  below: 'kubelet, containerd and all other processes below',
};

const titles: Readonly<Record<Availability, string>> = {
  'one replica': 'one server each; kubeadm with a member of etcd each, Steward with one member for all',
  available:
    'highly available; kubeadm with three servers and three members of etcd each, Steward with two servers each and three members for all',
};

const measures = [
  { title: 'resident MiB', value: ({ rssMiB }: Needs) => rssMiB },
  { title: 'shared once MiB', value: ({ pssMiB }: Needs) => pssMiB },
  { title: 'anonymous MiB', value: ({ anonymousMiB }: Needs) => anonymousMiB },
  { title: 'CPU, thousandths of a core', value: ({ milliCpu }: Needs) => milliCpu },
] as const;

type Needs = Pick<HardwareRow, 'processes' | 'rssMiB' | 'pssMiB' | 'anonymousMiB' | 'milliCpu'>;

/** What is compared: the control planes with all that they need, and the machines below them too. */
const sums: readonly { readonly title: string; readonly of: (part: Part) => boolean }[] = [
  { title: 'control planes, etcd and manager', of: (part) => part !== 'below' },
  { title: 'all processes', of: () => true },
];

/** What several parts need together. */
export function together(rows: readonly Needs[]): Needs {
  const sum = (value: (row: Needs) => number): number => rows.reduce((all, row) => all + value(row), 0);
  return {
    processes: sum(({ processes }) => processes),
    rssMiB: sum(({ rssMiB }) => rssMiB),
    pssMiB: sum(({ pssMiB }) => pssMiB),
    anonymousMiB: sum(({ anonymousMiB }) => anonymousMiB),
    milliCpu: sum(({ milliCpu }) => milliCpu),
  };
}

function hardwareReport(rows: readonly HardwareRow[]): string {
  const [first] = rows;
  const sections = [...Map.groupBy(rows, ({ availability }) => availability)].map(([availability, own]) =>
    section(availability, own),
  );
  return [
    `What ${first?.controlPlanes ?? 0} idle control planes need for ${(first?.seconds ?? 0).toFixed(0)} s: on machines of their own by kubeadm with stacked etcd, and as pods of`,
    'Steward. All ran on this machine, one after the other, with the same programs. "Shared once" counts pages that several processes',
    'share once: on machines of their own they would not be shared. Below Steward is a whole management cluster of one node.',
    '',
    sections.join('\n\n'),
  ].join('\n');
}

function section(availability: Availability, rows: readonly HardwareRow[]): string {
  const ways = ['kubeadm', 'Steward'] as const;
  const cells = (needs: Needs): readonly string[] => [
    String(needs.processes),
    ...measures.map(({ value }) => value(needs).toFixed(0)),
  ];
  const lines = ways.flatMap((way) => {
    const own = rows.filter((row) => row.way === way);
    const machines = `${own[0]?.machines ?? 0} machine${own[0]?.machines === 1 ? '' : 's'}`;
    return [
      ...own.map((row) => [`${way}, ${machines}`, names[row.part], ...cells(row)]),
      ...sums.map(({ title, of }) => [way, `**${title}**`, ...cells(sumOf(own, way, of))]),
    ];
  });
  const saved = sums.map(({ title, of }) => [
    title,
    ...measures.map(({ value }) => savedPercent(value(sumOf(rows, 'kubeadm', of)), value(sumOf(rows, 'Steward', of)))),
  ]);
  const share = sums.flatMap(({ title, of }) =>
    ways.map((way) => [
      `${title}, ${way}`,
      ...measures.map(({ value }) => (value(sumOf(rows, way, of)) / (rows[0]?.controlPlanes ?? 1)).toFixed(0)),
    ]),
  );
  const titlesOf = measures.map(({ title }) => title);
  return [
    `### ${titles[availability].replace(/^./, (letter) => letter.toUpperCase())}`,
    textTable(['way', 'processes of', 'number', ...titlesOf], lines),
    'For each control plane:',
    textTable(['share', ...titlesOf], share),
    'Saved by Steward, %:',
    textTable(['of', ...titlesOf], saved),
  ].join('\n\n');
}

function sumOf(rows: readonly HardwareRow[], way: Way, of: (part: Part) => boolean): Needs {
  return together(rows.filter((row) => row.way === way && of(row.part)));
}

/** How much less than before, in percent of before; negative when it is more. */
function savedPercent(before: number, after: number): string {
  return ((1 - after / before) * 100).toFixed(0);
}

function headlines(rows: readonly HardwareRow[]): readonly Headline[] {
  return [...Map.groupBy(rows, ({ availability }) => availability)].flatMap(([availability, own]) => {
    const [needed] = sums;
    if (needed === undefined) return [];
    const [floor, ours] = [sumOf(own, 'kubeadm', needed.of), sumOf(own, 'Steward', needed.of)];
    const count = own[0]?.controlPlanes ?? 0;
    const kind = availability === 'available' ? 'highly available control planes' : 'control planes';
    const line = (what: string, value: (needs: Needs) => number): Headline => ({
      figure: `${what} of ${count} idle ${kind}, manager and etcd included; floor: by kubeadm on ${machinesOf(own)} machines`,
      value: value(ours).toFixed(0),
      floor: value(floor).toFixed(0),
      times: (value(ours) / value(floor)).toFixed(2),
    });
    return [
      line('Memory, anonymous, MiB,', ({ anonymousMiB }) => anonymousMiB),
      line('CPU, thousandths of a core,', ({ milliCpu }) => milliCpu),
    ];
  });
}

function machinesOf(rows: readonly HardwareRow[]): number {
  return rows.find(({ way }) => way === 'kubeadm')?.machines ?? 0;
}

/** The benchmark of what control planes need, against kubeadm's on machines of their own. */
export const hardwarePresentation: Presentation<HardwareRow> = {
  name: 'hardware',
  title: 'What control planes need, against machines of their own',
  report: hardwareReport,
  headlines,
};
