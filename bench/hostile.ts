import { execFileSync } from 'node:child_process';
import { writeFile } from 'node:fs/promises';
import { cpus, loadavg } from 'node:os';
import { setTimeout as sleep } from 'node:timers/promises';
import { parseArgs } from 'node:util';

import { hostilities } from './hostile-endpoints.ts';
import type { Hostility } from './hostile-endpoints.ts';
import { HostileFleet } from './hostile-fleet.ts';
import { percentile } from './percentile.ts';
import { textTable } from './text-table.ts';

/** What the manager may do while its tenants are hostile. */
const bounds = { cpuPercent: 5, requestsPerSecond: 2, ratio: 1.5 } as const;

interface Times {
  readonly medianMs: number;
  readonly p99Ms: number;
}

interface Result {
  readonly does: Hostility;
  /** Of one core, in the time of the look. */
  readonly cpuPercent: number;
  readonly requestsPerSecond: number;
  readonly beside: Times;
  readonly ratios: { readonly median: number; readonly p99: number };
}

const timesOf = (all: readonly number[]): Times => ({ medianMs: percentile(all, 50), p99Ms: percentile(all, 99) });

async function alone(innocent: number): Promise<Times> {
  const fleet = new HostileFleet('silent');
  await fleet.start();
  // The first ones pay for what is compiled.
  await fleet.readyTimes(3);
  await fleet.stop();
  const measured = new HostileFleet('silent');
  await measured.start();
  const times = timesOf(await measured.readyTimes(innocent));
  await measured.stop();
  return times;
}

interface Sizes {
  readonly hostile: number;
  readonly innocent: number;
  readonly seconds: number;
}

async function measure(does: Hostility, { hostile, innocent, seconds }: Sizes, floor: Times): Promise<Result> {
  const fleet = new HostileFleet(does);
  await fleet.start();
  await fleet.addHostile(hostile);
  await sleep(seconds * 1000);
  const [before, cpu, since] = [fleet.requests, process.cpuUsage(), performance.now()];
  await sleep(seconds * 1000);
  const passed = (performance.now() - since) / 1000;
  const { user, system } = process.cpuUsage(cpu);
  const requestsPerSecond = (fleet.requests - before) / passed;
  const beside = timesOf(await fleet.readyTimes(innocent));
  await fleet.stop();
  const ratios = { median: beside.medianMs / floor.medianMs, p99: beside.p99Ms / floor.p99Ms };
  return { does, cpuPercent: (user + system) / 10_000 / passed, requestsPerSecond, beside, ratios };
}

const { values } = parseArgs({
  options: {
    does: { type: 'string', default: hostilities.join(',') },
    hostile: { type: 'string', default: '100' },
    innocent: { type: 'string', default: '30' },
    seconds: { type: 'string', default: '60' },
    json: { type: 'string' },
    check: { type: 'boolean', default: false },
  },
});
const sizes = { hostile: Number(values.hostile), innocent: Number(values.innocent), seconds: Number(values.seconds) };
const asked = hostilities.filter((does) => values.does.split(',').includes(does));
if (asked.length === 0) throw new Error(`--does ${values.does}: one or more of ${hostilities.join(', ')} are needed`);
const floor = await alone(sizes.innocent);
const results: Result[] = [];
for (const does of asked) {
  results.push(await measure(does, sizes, floor));
  console.error(`${does}: measured`);
}
const ms = (value: number): string => value.toFixed(0);
console.log(
  `${sizes.hostile} hostile tenants, looked at for ${sizes.seconds} s after ${sizes.seconds} s. The management cluster is in memory and in the process that is
measured, so its CPU time is that of both; so are the API servers of the ${sizes.innocent} innocent tenants. Hostile endpoints are another process.
Alone the innocent take ${ms(floor.medianMs)} ms (median) and ${ms(floor.p99Ms)} ms (p99). Load of the machine at the end: ${loadavg()
    .map((one) => one.toFixed(1))
    .join(' ')}.\n`,
);
console.log(
  textTable(
    ['endpoints', 'CPU %', 'requests/s', 'median ms', 'p99 ms', 'median ratio', 'p99 ratio'],
    results.map(({ does, cpuPercent, requestsPerSecond, beside, ratios }) => [
      does,
      cpuPercent.toFixed(1),
      requestsPerSecond.toFixed(1),
      ms(beside.medianMs),
      ms(beside.p99Ms),
      ratios.median.toFixed(2),
      ratios.p99.toFixed(2),
    ]),
  ),
);
if (values.json !== undefined) {
  const commit = execFileSync('git', ['rev-parse', '--short', 'HEAD'], { encoding: 'utf8' }).trim();
  const machine = { node: process.version, cpus: cpus().length, load: loadavg() };
  const measured = { date: new Date().toISOString(), commit, machine, sizes, bounds, alone: floor, results };
  await writeFile(values.json, `${JSON.stringify(measured, undefined, 2)}\n`);
}
const isBroken = ({ cpuPercent, requestsPerSecond, ratios }: Result): boolean =>
  cpuPercent > bounds.cpuPercent ||
  requestsPerSecond > bounds.requestsPerSecond ||
  Math.max(ratios.median, ratios.p99) > bounds.ratio;
const broken = results.filter(isBroken);
if (broken.length > 0) console.error(`over a bound: ${broken.map(({ does }) => does).join(', ')}`);
process.exit(values.check && broken.length > 0 ? 1 : 0);
