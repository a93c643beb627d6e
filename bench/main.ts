import { writeFile } from 'node:fs/promises';

import { disposeOnSignals } from '../e2e/cluster/dispose-on-signals.ts';
import type { ManagementCluster } from '../e2e/cluster/management-cluster.ts';
import { removeHarness } from '../e2e/cluster/remove-harness.ts';
import { footprintReport } from './footprint/footprint-report.ts';
import { measureFootprint } from './footprint/footprint.ts';
import { hostileLine, hostileReport } from './hostile/hostile-report.ts';
import { breaksBound, measureHostile } from './hostile/hostile.ts';
import { describeHost, describeMachine, machineText } from './report/machine-description.ts';
import { hasGrown, measureMemory, memoryReport } from './memory.ts';
import { parseOptions, usage } from './options.ts';
import type { BenchOptions } from './options.ts';
import { readyReport } from './ready/ready-report.ts';
import { readyRows } from './ready/ready-rows.ts';
import { measureReady } from './ready/ready.ts';
import { writeResult } from './report/result-file.ts';
import { measureUpgrades } from './upgrade/measure-upgrades.ts';
import { isHarmed, upgradeReport } from './upgrade/upgrade-report.ts';
import { attachStewardCluster, startStewardCluster } from './steward-cluster.ts';

const started = performance.now();

function progress(step: string, detail = ''): void {
  const seconds = ((performance.now() - started) / 1000).toFixed(1).padStart(6);
  console.error(`${seconds} s  ${step}${detail === '' ? '' : `: ${detail}`}`);
}

async function main(options: BenchOptions): Promise<void> {
  if (options.help) {
    console.log(usage);
    return;
  }
  const needsCluster = options.figures.some((figure) => ['ready', 'footprint', 'upgrade'].includes(figure));
  if (needsCluster) await measureOnCluster(options);
  if (await breaksBoundsInMemory(options)) throw new Error('A bound is broken: see the rows above.');
}

async function measureOnCluster(options: BenchOptions): Promise<void> {
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
      ? startStewardCluster({ name, keep: options.keep, progress })
      : attachStewardCluster(name, progress);
    await measure(await cluster, options);
  } finally {
    signals[Symbol.dispose]();
    await removal[Symbol.asyncDispose]();
    if (isOurs && options.keep) progress('kept', `${name}; remove it with: node e2e/cluster/main.ts down ${name}`);
  }
}

/** Measures what needs no cluster. True when a bound is broken that was to be checked. */
async function breaksBoundsInMemory(options: BenchOptions): Promise<boolean> {
  const broken: boolean[] = [];
  const write = async (bench: string, rows: readonly unknown[]): Promise<void> => {
    const result = { bench, command: commandLine(), machine: await describeHost(), rows };
    const { note } = options;
    if (options.record) await writeResult({ ...result, note });
    if (options.json !== undefined) await writeFile(options.json, `${JSON.stringify(result, undefined, 2)}\n`);
  };
  if (options.figures.includes('hostile')) {
    const rows = await measureHostile(options, (row) => {
      progress(hostileLine(row));
    });
    console.log(`\n${hostileReport(rows)}`);
    await write('hostile', rows);
    broken.push(rows.some(breaksBound));
  }
  if (options.figures.includes('memory')) {
    const rows = await measureMemory(options.churn, ({ tenants, heapBytes }) => {
      progress(`${tenants} tenants made and deleted`, `${(heapBytes / 2 ** 20).toFixed(2)} MiB`);
    });
    console.log(`\n${memoryReport(rows)}`);
    await write('memory', rows);
    broken.push(hasGrown(rows));
  }
  return options.check && broken.includes(true);
}

const commandLine = (): string => ['npm run bench --', ...process.argv.slice(2)].join(' ');

async function measure(cluster: ManagementCluster, options: BenchOptions): Promise<void> {
  const machine = await describeMachine(cluster.machine.record.kubernetes);
  console.log(machineText(machine));
  const wants = (figure: BenchOptions['figures'][number]): boolean => options.figures.includes(figure);
  const ready = wants('ready') ? await measureReady(cluster, options) : undefined;
  if (ready !== undefined) console.log(`\n${readyReport(ready)}`);
  const footprint = wants('footprint') ? await measureFootprint(cluster, options) : undefined;
  if (footprint !== undefined) console.log(`\nThe manager while tenants rest\n\n${footprintReport(footprint)}`);
  const command = commandLine();
  const upgrades = wants('upgrade') ? await measureUpgrades(cluster, progress) : undefined;
  if (upgrades !== undefined) console.log(`\n${upgradeReport(upgrades)}`);
  const { note } = options;
  if (options.record && upgrades !== undefined)
    await writeResult({ bench: 'upgrade', command, note, machine, rows: upgrades });
  if (options.record && ready !== undefined)
    await writeResult({ bench: 'ready', command, machine, rows: readyRows(ready) });
  if (options.record && footprint !== undefined)
    await writeResult({ bench: 'footprint', command, machine, rows: footprint });
  if (options.json !== undefined) await writeMeasured(options.json, { machine, options, ready, footprint, upgrades });
  if (options.check && upgrades?.some(isHarmed) === true)
    throw new Error('An upgrade was noticed: see the rows above.');
}

async function writeMeasured(file: string, measured: object): Promise<void> {
  await writeFile(file, `${JSON.stringify({ date: new Date().toISOString(), ...measured }, undefined, 2)}\n`);
}

try {
  await main(parseOptions(process.argv.slice(2)));
  process.exit(0);
} catch (error) {
  console.error(error instanceof Error ? error.message : String(error));
  process.exit(1);
}
