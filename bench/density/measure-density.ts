import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { setTimeout as pause } from 'node:timers/promises';

import type { Progress } from '../../e2e/cluster/machines/supplies.ts';
import { availableMemory } from '../fitting-tenants.ts';
import type { FloodStore } from '../flood/flood-rows.ts';
import { apiServerKinds } from './api-server-kinds.ts';
import { densityLine } from './density-report.ts';
import { spreadOf } from './density-rows.ts';
import type { DensityRow, DensitySeries } from './density-rows.ts';
import { nextStep } from './density-steps.ts';
import { openFloor } from './floor/open-floor.ts';
import { LoadProcesses } from './load/load-processes.ts';
import type { DensityStore } from './stores/density-store.ts';
import { openStore } from './stores/open-store.ts';
import { cpuBetween, readConnections, readCpuTimes, readDisk, readMemory } from './usage/machine-usage.ts';

/** How much is measured. */
export interface DensityOptions {
  readonly stores: readonly FloodStore[];
  /** Numbers of tenants, ascending. */
  readonly tenants: readonly number[];
  /** How long each is measured. */
  readonly seconds: number;
}

/** Tenants that are added side by side. */
const addedAtOnce = 4;

/** From the last tenant that is added until the measured time begins. */
const settleMs = 5_000;

/** How long a curve may take, so that all of them are measured in less than twenty minutes. */
const curveMs = 210_000;

/** At these numbers of tenants the load is made against nothing. */
const floorTenants = [10, 100, 300] as const;

/** Of why a curve ended, the characters that are recorded; all of it is printed. */
const mostOfMessage = 300;

/** A curve. */
interface Curve {
  readonly series: DensitySeries;
  readonly open: () => Promise<DensityStore>;
  readonly connections: 'kinds' | 'one';
  readonly tenants: readonly number[];
}

/** Adds tenants to each datastore until writes are slow or the machine is used up. */
export async function measureDensity(options: DensityOptions, progress: Progress): Promise<readonly DensityRow[]> {
  // Every kine has a folder, which is removed also when this process ends before.
  process.setMaxListeners(0);
  const rows: DensityRow[] = [];
  for (const curve of curves(options)) rows.push(...(await measureCurve(curve, options.seconds, progress)));
  return rows;
}

/** The floor, then each datastore, and etcd twice. */
function curves({ stores, tenants }: DensityOptions): readonly Curve[] {
  const most = Math.max(...tenants);
  const floor = floorTenants.filter((count) => count <= most);
  const all = { connections: 'kinds', tenants } as const;
  return [
    { ...all, series: 'floor', open: openFloor, tenants: floor },
    ...stores.flatMap((store): readonly Curve[] => {
      const open = (): Promise<DensityStore> => openStore(store);
      const one: Curve = { ...all, series: 'etcd, one connection', open, connections: 'one' };
      return [{ ...all, series: store, open }, ...(store === 'etcd' ? [one] : [])];
    }),
  ];
}

async function measureCurve(curve: Curve, seconds: number, progress: Progress): Promise<readonly DensityRow[]> {
  const { series } = curve;
  progress(series, 'starting');
  const measuring = new CurveMeasurement(curve, seconds, progress);
  try {
    await measuring.run();
  } catch (error) {
    const { message } = error as Error;
    progress(series, message);
    measuring.failed(message);
  }
  return measuring.rows;
}

/** One curve while it is measured. */
class CurveMeasurement {
  readonly rows: DensityRow[] = [];
  readonly #curve: Curve;
  readonly #seconds: number;
  readonly #progress: Progress;
  readonly #began = performance.now();
  #tenants = 0;

  constructor(curve: Curve, seconds: number, progress: Progress) {
    this.#curve = curve;
    this.#seconds = seconds;
    this.#progress = progress;
  }

  async run(): Promise<void> {
    const { series, connections, tenants: steps } = this.#curve;
    const mostFiles = await fileLimit();
    const availableAtFirst = await availableMemory();
    await using store = await this.#curve.open();
    using load = new LoadProcesses({ kinds: apiServerKinds, connections });
    const filesOfTenant = series === 'etcd' ? apiServerKinds.length : 1;
    for (let tenants = steps[0]; tenants !== undefined;) {
      const adding = performance.now();
      const added = tenants - this.#tenants;
      await this.#add(store, load, tenants);
      const tenantMs = (performance.now() - adding) / added;
      const row = await this.#measure(store, load);
      const leftMs = curveMs - (performance.now() - this.#began) - this.#seconds * 1000 - settleMs;
      const next = nextStep(row, steps, { availableAtFirst, mostFiles, filesOfTenant, leftMs, tenantMs });
      this.#found('end' in next ? { ...row, end: next.end } : row);
      tenants = 'end' in next ? undefined : next.tenants;
    }
  }

  /** What was measured last is the end of the curve; where nothing was, a row says why. */
  failed(message: string): void {
    const failure = message.slice(0, mostOfMessage);
    const nothing = { server: 0, kine: 0, client: 0 };
    this.rows.push({
      ...{ series: this.#curve.series, tenants: this.#tenants, seconds: 0, failed: 1, failure, end: 'failed' },
      ...{ cores: { ...nothing, others: 0 }, busy: 0, memoryMiB: { ...nothing, available: 0 } },
      ...{ connections: 0, diskMiB: 0 },
    });
  }

  async #add(store: DensityStore, load: LoadProcesses, tenants: number): Promise<void> {
    this.#progress(this.#curve.series, `${tenants} tenants`);
    const missing = Array.from({ length: tenants - this.#tenants }, (_, at) => at);
    // etcd refuses calls that meet a change of its users, so that all tenancies are made before anybody connects.
    const targets = await inTurns(missing, () => store.addTenant());
    await inTurns(targets, (target) => load.add(target));
    this.#tenants = tenants;
    await load.load();
    await pause(settleMs);
  }

  async #measure({ place }: DensityStore, load: LoadProcesses): Promise<DensityRow> {
    await load.begin();
    const from = await readCpuTimes(place);
    await pause(this.#seconds * 1000);
    const to = await readCpuTimes(place);
    const { othersMs, measuredMs, failed, failure } = await load.end();
    const { busy, ...cores } = cpuBetween(from, to);
    const [others, measured] = [spreadOf(othersMs), spreadOf(measuredMs)];
    return {
      ...{ series: this.#curve.series, tenants: this.#tenants, seconds: (to.at - from.at) / 1000 },
      ...(others && { others }),
      ...(measured && { measured }),
      failed,
      ...(failure !== undefined && { failure: failure.slice(0, mostOfMessage) }),
      ...{ cores, busy, memoryMiB: await readMemory(place) },
      ...{ connections: await readConnections(place), diskMiB: await readDisk(place) },
    };
  }

  #found(row: DensityRow): void {
    this.rows.push(row);
    this.#progress(row.series, densityLine(row));
  }
}

/** Does work for all items, for a few of them side by side. */
async function inTurns<Item, Result>(
  items: readonly Item[],
  work: (item: Item) => Promise<Result>,
): Promise<readonly Result[]> {
  const results: Result[] = [];
  const open = items.values();
  await Promise.all(
    Array.from({ length: addedAtOnce }, async () => {
      for (const item of open) results.push(await work(item));
    }),
  );
  return results;
}

/** Files that one process may have, which connections are. */
async function fileLimit(): Promise<number> {
  const { stdout } = await promisify(execFile)('prlimit', ['--nofile', '--noheadings', '--raw', '--output=HARD']);
  const most = Number(stdout.trim());
  return Number.isNaN(most) ? Infinity : most;
}
