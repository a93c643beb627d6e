import type { Recorded } from './recorded.ts';

/** The table of README: what each committed result comes down to. */
export function headlineFigures(recorded: readonly Recorded[]): string {
  const lines = recorded.flatMap(({ presentation, result }) =>
    (presentation.headlines?.(result.rows) ?? []).map(({ figure, value, floor = '', times = '' }) =>
      cells([figure, value, floor, times, `${result.commit}, ${result.date.slice(0, 10)}`]),
    ),
  );
  const header = ['', 'Steward', 'Floor', 'Steward / floor', 'Measured at'];
  return [
    'Medians, with the worst case in parentheses. A floor is the same pods or the same steps by hand, measured in the same run.',
    `Everything ran on ${machines(recorded)}. [All figures](docs/reference/benchmarks.md) have their machine, command and samples.`,
    '',
    cells(header).replace('|  |', '| |'),
    cells(header.map(() => '---')),
    ...lines,
  ].join('\n');
}

/** The different sizes of the machines. */
function machines(recorded: readonly Recorded[]): string {
  const sizes = recorded
    .filter(({ presentation }) => presentation.headlines !== undefined)
    .map(({ result: { machine } }) => `${machine.cores ?? '?'} cores and ${machine.memoryGiB ?? '?'} GiB`);
  return `one virtual machine with ${[...new Set(sizes)].join(' or ')}`;
}

function cells(texts: readonly string[]): string {
  return `| ${texts.join(' | ')} |`;
}
