import { setTimeout as pause } from 'node:timers/promises';

import { kinds } from '../../api/core/kinds.ts';
import type { Key } from '../../api/meta.ts';
import { tenantControlPlane } from '../../api/steward/v1alpha1/tenant-control-plane.ts';
import type { Progress } from '../../e2e/cluster/machines/supplies.ts';
import { seededRandom } from '../../e2e/framework/attacks/seeded-random.ts';
import { keyOf, ScaleFleet } from '../scale/fleet/scale-fleet.ts';
import { managerNamespace } from '../scale/fleet/scale-management.ts';
import { managerClient } from '../scale/fleet/scale-manager.ts';
import type { ChaosRow, FaultKind } from './chaos-rows.ts';
import { planFaults } from './fault-plan.ts';
import type { PlannedFault } from './fault-plan.ts';
import { FaultyApi } from './faulty-api.ts';
import { belongingsOf, notAsWanted, openTenant } from './fleet-state.ts';
import { happen } from './happen.ts';
import type { Targets } from './happen.ts';
import { Managers } from './managers.ts';
import { oddOnes } from './odd-ones.ts';
import { Persons } from './persons.ts';
import type { WantedTenant } from './persons.ts';
import { oddInStore, storeNames } from './store-state.ts';
import type { StoreNames } from './store-state.ts';
import { TenantWriter } from './tenant-writer.ts';
import { pauseUnlessOver } from '../pause-unless-over.ts';

/** How much is done. */
export interface ChaosOptions {
  readonly minutes: number;
  readonly managers: number;
  /** Whether they share the tenants; otherwise one of them leads. */
  readonly shards: boolean;
  readonly standIn: number;
  readonly real: number;
  readonly seed: number;
}

/** Of what is odd, the first are recorded. */
const mostListed = 20;
const convergesWithinMs = 600_000;
const memoryEveryMs = 60_000;
/** What is there is compared after a rest, in which the garbage collector removes what nobody owns. */
const restMs = 60_000;

/** Lets everything fail for minutes, and finds out what came of it. */
export async function measureChaos(options: ChaosOptions, progress: Progress): Promise<readonly ChaosRow[]> {
  await using started = new AsyncDisposableStack();
  const run = await ChaosRun.start(options, started, (step) => {
    progress('chaos', step);
  });
  return [await run.measure()];
}

interface Parts extends Targets {
  readonly fleet: ScaleFleet;
  /** In the store, without any tenant. */
  readonly before: StoreNames;
  readonly persons: Persons;
  readonly reals: readonly Key[];
  readonly writers: readonly TenantWriter[];
}

class ChaosRun {
  readonly #options: ChaosOptions;
  readonly #parts: Parts;
  readonly #tell: (step: string) => void;
  readonly #rssMiB: number[] = [];

  private constructor(options: ChaosOptions, parts: Parts, tell: (step: string) => void) {
    this.#options = options;
    this.#parts = parts;
    this.#tell = tell;
  }

  /** Starts everything, with all tenants Ready and nothing failing yet. */
  static async start(
    options: ChaosOptions,
    started: AsyncDisposableStack,
    tell: (step: string) => void,
  ): Promise<ChaosRun> {
    const { managers: count, shards, standIn, real, seed } = options;
    const fleet = started.use(await ScaleFleet.start(tell));
    const store = fleet.stores.default.server;
    const before = await storeNames(store);
    tell(`${standIn} tenants of the stand-in, and ${real} with real API servers`);
    await fleet.create(standIn);
    const usual = fleet.tenants.list().map(keyOf);
    await fleet.create(real, 'real');
    const isUsual = (key: Key): boolean => usual.some(({ name }) => name === key.name);
    const reals = fleet.tenants
      .list()
      .map(keyOf)
      .filter((key) => !isUsual(key));
    await fleet.quiet();
    // It has no proxy before the management API.
    await fleet.manager.stop();
    const { server } = fleet.management;
    const api = started.use(
      await FaultyApi.start({ url: server.url, ca: server.ca, client: await managerClient(server) }),
    );
    const managers = started.use(await Managers.start({ program: fleet.program, api, count, shards }));
    const persons = personsOf(fleet, usual, seed);
    const writers: TenantWriter[] = [];
    for (const key of reals) writers.push(new TenantWriter(started.use(await openTenant(fleet.admin, key)).cluster));
    return new ChaosRun(options, { fleet, store, before, api, managers, persons, reals, writers }, tell);
  }

  async measure(): Promise<ChaosRow> {
    const { fleet, persons, writers, managers } = this.#parts;
    const { minutes, seed, managers: count, shards, standIn, real } = this.#options;
    const planned = planFaults({ seconds: minutes * 60, managers: count, random: seededRandom(seed) });
    this.#tell(`${planned.length} faults in ${minutes} minutes, seed ${seed}`);
    const ledBefore = await transitions(fleet);
    await this.#suffer(planned);
    const takeovers = (await transitions(fleet)) - ledBefore;
    const wanted = [...persons.wanted, ...this.#parts.reals.map((key) => ({ key }))];
    const converged = await this.#converge(wanted);
    await pause(restMs);
    const odd = await this.#odd(wanted);
    const lost = await Promise.all(writers.map((writer) => writer.lost()));
    return {
      ...{ seed, minutes, managers: count, ...(shards && { shards }), tenants: { standIn, real } },
      ...{ faults: countsOf(planned), changes: persons.counts, ...converged, ...odd },
      writes: {
        acknowledged: sum(writers.map(({ acknowledged }) => acknowledged)),
        failed: sum(writers.map(({ failed }) => failed)),
        lost: sum(lost),
      },
      ...{ takeovers, endedByThemselves: managers.endedByThemselves },
      ...{ rssMiB: this.#rssMiB, restedRssMiB: Math.round(await managers.rssMiB()) },
    };
  }

  /** Lets the faults happen, while everybody works. */
  async #suffer(planned: readonly PlannedFault[]): Promise<void> {
    const { persons, writers } = this.#parts;
    const over = new AbortController();
    const began = performance.now();
    const until = (seconds: number): Promise<void> => pause(Math.max(0, began + seconds * 1000 - performance.now()));
    const working = [
      this.#watchMemory(over.signal),
      persons.work(over.signal),
      ...writers.map((writer) => writer.write(over.signal)),
    ];
    await Promise.all(
      planned.map(async (fault) => {
        await until(fault.at);
        this.#tell(`${fault.at.toFixed(0)} s: ${nameOf(fault)} for ${fault.lasts.toFixed(0)} s`);
        await happen(fault, this.#parts);
      }),
    );
    await until(this.#options.minutes * 60);
    over.abort();
    await Promise.all(working);
  }

  async #watchMemory(over: AbortSignal): Promise<void> {
    while (!over.aborted) {
      this.#rssMiB.push(Math.round(await this.#parts.managers.rssMiB()));
      await pauseUnlessOver(memoryEveryMs, over);
    }
  }

  async #converge(wanted: readonly WantedTenant[]): Promise<Pick<ChaosRow, 'convergedMs' | 'unconverged'>> {
    const { fleet } = this.#parts;
    this.#tell('all faults are over');
    const since = performance.now();
    const elapsed = (): number => Math.round(performance.now() - since);
    let unconverged = notAsWanted(fleet, wanted);
    while (unconverged.length > 0 && elapsed() < convergesWithinMs) {
      await pause(1_000);
      unconverged = notAsWanted(fleet, wanted);
    }
    const convergedMs = elapsed();
    this.#tell(unconverged.length === 0 ? `converged after ${convergedMs} ms` : unconverged.join(', '));
    return { ...(unconverged.length === 0 && { convergedMs }), unconverged: unconverged.slice(0, mostListed) };
  }

  async #odd(wanted: readonly WantedTenant[]): Promise<Pick<ChaosRow, 'doubled' | 'missing'>> {
    const { fleet, before } = this.#parts;
    const keys = wanted.map(({ key }) => key);
    const objects = oddOnes(await belongingsOf(fleet, keys));
    const stored = oddInStore(fleet.tenants.list(), await storeNames(fleet.stores.default.server), before);
    return {
      doubled: [...objects.doubled, ...stored.doubled].slice(0, mostListed),
      missing: [...objects.missing, ...stored.missing].slice(0, mostListed),
    };
  }
}

function personsOf(fleet: ScaleFleet, tenants: readonly Key[], seed: number): Persons {
  return new Persons({
    fleet: {
      nextKey: () => fleet.nextKey('usual'),
      create: (key) => fleet.request(key),
      delete: async (key) => {
        await fleet.admin.delete(tenantControlPlane, key);
      },
      change: (key, inflight) => fleet.roll([key], inflight),
    },
    ...{ tenants, random: seededRandom(seed + 1), everyMs: 1_000, againMs: 500 },
  });
}

/** How often the managers' Leases have changed their holder. */
async function transitions({ admin }: ScaleFleet): Promise<number> {
  const { items } = await admin.list(kinds.Lease, { namespace: managerNamespace });
  return sum(items.map(({ spec }) => spec?.leaseTransitions ?? 0));
}

function nameOf({ kind, manager }: PlannedFault): string {
  return manager === undefined ? kind : `manager ${manager} ${kind}`;
}

function countsOf(planned: readonly PlannedFault[]): Readonly<Record<FaultKind, number>> {
  const counts: Record<FaultKind, number> = {
    ...{ killed: 0, hung: 0, partitioned: 0, throttled: 0, expired: 0, 'store restarted': 0 },
  };
  for (const { kind } of planned) counts[kind] += 1;
  return counts;
}

const sum = (values: readonly number[]): number => values.reduce((all, value) => all + value, 0);
