import { writeFile } from 'node:fs/promises';

import { disposeOnSignals } from '../e2e/harness/dispose-on-signals.ts';
import type { ManagementCluster } from '../e2e/harness/management-cluster.ts';
import { removeHarness } from '../e2e/harness/remove-harness.ts';
import { footprintReport } from './footprint-report.ts';
import { measureFootprint } from './footprint.ts';
import { describeMachine, machineText } from './machine-description.ts';
import { parseOptions, usage } from './options.ts';
import type { BenchOptions } from './options.ts';
import { readyReport } from './ready-report.ts';
import { readyRows } from './ready-rows.ts';
import { measureReady } from './ready.ts';
import { writeResult } from './result-file.ts';
import { attachStewardCluster, startStewardCluster } from './steward-cluster.ts';

const started = performance.now();

function tell(step: string, detail = ''): void {
  const seconds = ((performance.now() - started) / 1000).toFixed(1).padStart(6);
  console.error(`${seconds} s  ${step}${detail === '' ? '' : `: ${detail}`}`);
}

async function main(options: BenchOptions): Promise<void> {
  if (options.help) {
    console.log(usage);
    return;
  }
  const name = options.cluster ?? `bench-${process.pid}`;
  const isOurs = options.cluster === undefined;
  // By name: a signal may come while the cluster is half-made.
  const removal = {
    [Symbol.asyncDispose]: async () => {
      if (isOurs && !options.keep) await removeHarness(name);
    },
  };
  using signals = disposeOnSignals(removal);
  try {
    const cluster = isOurs
      ? startStewardCluster({ name, keep: options.keep, progress: tell })
      : attachStewardCluster(name, tell);
    await measure(await cluster, options);
  } finally {
    signals[Symbol.dispose]();
    await removal[Symbol.asyncDispose]();
    if (isOurs && options.keep) tell('kept', `${name}; remove it with: node e2e/harness/main.ts down ${name}`);
  }
}

async function measure(cluster: ManagementCluster, options: BenchOptions): Promise<void> {
  const machine = await describeMachine(cluster.machine.record.kubernetes);
  console.log(machineText(machine));
  const wants = (figure: BenchOptions['figures'][number]): boolean => options.figures.includes(figure);
  const ready = wants('ready') ? await measureReady(cluster, options) : undefined;
  if (ready !== undefined) console.log(`\n${readyReport(ready)}`);
  const footprint = wants('footprint') ? await measureFootprint(cluster, options) : undefined;
  if (footprint !== undefined) console.log(`\nThe manager while tenants rest\n\n${footprintReport(footprint)}`);
  const command = ['npm run bench --', ...process.argv.slice(2)].join(' ');
  if (options.record && ready !== undefined)
    await writeResult({ bench: 'ready', command, machine, rows: readyRows(ready) });
  if (options.record && footprint !== undefined)
    await writeResult({ bench: 'footprint', command, machine, rows: footprint });
  if (options.json === undefined) return;
  const measured = { date: new Date().toISOString(), machine, options, ready, footprint };
  await writeFile(options.json, `${JSON.stringify(measured, undefined, 2)}\n`);
}

try {
  await main(parseOptions(process.argv.slice(2)));
  process.exit(0);
} catch (error) {
  console.error(error instanceof Error ? error.message : String(error));
  process.exit(1);
}
