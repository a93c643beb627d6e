import { writeFile } from 'node:fs/promises';

import type { Progress } from '../e2e/cluster/machines/supplies.ts';
import { toolPin } from '../e2e/tools/pins.ts';
import type { BenchRun, Figure, Stages } from './figure.ts';
import { figures } from './figures.ts';
import { parseOptions, usage } from './options.ts';
import type { KnownFigure } from './options.ts';
import { headlineTable } from './report/headline-table.ts';
import { describeHost, describeMachine, machineText } from './report/machine-description.ts';
import type { MachineDescription } from './report/machine-description.ts';
import type { Headline } from './report/presentation.ts';
import { writeResult } from './report/result-file.ts';
import type { BenchResult } from './report/result-file.ts';
import { onStage } from './stages.ts';

const started = performance.now();

const progress: Progress = (step, detail = '') => {
  const seconds = ((performance.now() - started) / 1000).toFixed(1).padStart(6);
  console.error(`${seconds} s  ${step}${detail === '' ? '' : `: ${detail}`}`);
};

/** What the benchmarks of one run have found so far. */
interface Found {
  readonly results: Pick<BenchResult<unknown>, 'bench' | 'command' | 'note' | 'machine' | 'rows'>[];
  readonly headlines: Headline[];
  /** Names of benchmarks of which a bound is broken. */
  readonly broken: string[];
}

async function main(args: readonly string[]): Promise<void> {
  const known: readonly KnownFigure[] = Object.values(figures)
    .flat()
    .map(({ presentation: { name }, help, isQuick }) => ({ name, help, isQuick }));
  const options = parseOptions(args, known);
  if (options.help) {
    console.log(usage(known));
    return;
  }
  const found: Found = { results: [], headlines: [], broken: [] };
  const run = { options, progress };
  await measureOn('steward', figures.steward, { run, found });
  await measureOn('clusterApi', figures.clusterApi, { run, found });
  await measureOn('machines', figures.machines, { run, found });
  await measureOn('process', figures.process, { run, found });
  if (found.results.length > 1 && found.headlines.length > 0) console.log(`\n${headlineTable(found.headlines)}`);
  if (options.json !== undefined) await writeMeasured(options.json, { options, results: found.results });
  if (options.check && found.broken.length > 0)
    throw new Error(`A bound of ${found.broken.join(' and ')} is broken: see the rows above.`);
}

/** Measures what is run on one stage, and starts it only if something is. */
async function measureOn<Stage extends keyof Stages>(
  stage: Stage,
  all: readonly Figure<Stage>[],
  { run, found }: { readonly run: BenchRun; readonly found: Found },
): Promise<void> {
  const chosen = all.filter(({ presentation }) => run.options.figures.includes(presentation.name));
  if (chosen.length === 0) return;
  await onStage[stage](run, async (on) => {
    for (const figure of chosen) await measure(figure, on, { run, found, needsCluster: stage !== 'process' });
  });
}

async function measure<Stage extends keyof Stages>(
  figure: Figure<Stage>,
  on: Stages[Stage],
  { run, found, needsCluster }: { readonly run: BenchRun; readonly found: Found; readonly needsCluster: boolean },
): Promise<void> {
  const { presentation } = figure;
  const machine = needsCluster ? await printedMachine() : await describeHost();
  const rows = await figure.measure(on, run);
  console.log(`\n${presentation.report(rows)}`);
  const { note, record } = run.options;
  const command = ['npm run bench --', ...process.argv.slice(2)].join(' ');
  const result = { bench: presentation.name, command, note, machine, rows };
  // At once: a later benchmark may fail.
  if (record) await writeResult(result);
  found.results.push(result);
  found.headlines.push(...(presentation.headlines?.(rows) ?? []));
  if (figure.isBroken?.(rows) === true) found.broken.push(presentation.name);
}

async function printedMachine(): Promise<MachineDescription> {
  const machine = await describeMachine(toolPin('kubeadm').source.version);
  console.log(`\n${machineText(machine)}`);
  return machine;
}

async function writeMeasured(file: string, measured: object): Promise<void> {
  await writeFile(file, `${JSON.stringify({ date: new Date().toISOString(), ...measured }, undefined, 2)}\n`);
}

try {
  await main(process.argv.slice(2));
  process.exit(0);
} catch (error) {
  console.error(error instanceof Error ? error.message : String(error));
  process.exit(1);
}
