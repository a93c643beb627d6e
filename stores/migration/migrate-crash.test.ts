import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { MovingTenancy } from '../../testing/worlds/moving-tenancy.ts';
import type { MemoryTenancy } from '../../testing/fake/memory-tenancy.ts';
import type { MigrationOptions } from './migration.ts';

/** Dies at one of its calls: before it takes effect, or after, when the answer is lost. Then nothing it does arrives anymore. */
interface Death {
  readonly at: number;
  readonly afterEffect: boolean;
}

class DeadError extends Error {}

/** One process that may die; without a death it counts its calls. */
class Life {
  readonly #death: Death | undefined;
  calls = 0;
  #isDead = false;

  constructor(death?: Death) {
    this.#death = death;
  }

  readonly before = (): void => {
    this.calls += 1;
    if (this.calls === this.#death?.at && !this.#death.afterEffect) this.#isDead = true;
    if (this.#isDead) throw new DeadError('the process is dead');
  };

  readonly after = (): void => {
    if (this.calls === this.#death?.at) this.#isDead = true;
    if (this.#isDead) throw new DeadError('the process is dead');
  };

  call<Parameters extends readonly unknown[], Result>(
    run: (...parameters: Parameters) => Promise<Result>,
  ): (...parameters: Parameters) => Promise<Result> {
    return async (...parameters) => {
      this.before();
      const result = await run(...parameters);
      this.after();
      return result;
    };
  }
}

function watched(tenancy: MemoryTenancy, life: Life, tenant: (call: string) => unknown): void {
  tenancy.before = (call) => {
    tenant(call);
    life.before();
  };
  tenancy.after = life.after;
}

/** Runs one process of a world whose tenant writes; true when it died. */
async function live(world: MovingTenancy, life: Life, tenant: (call: string) => unknown): Promise<boolean> {
  watched(world.source, life, tenant);
  watched(world.target, life, () => undefined);
  const { journal, freeze } = world.options();
  const over: Partial<MigrationOptions> = {
    journal: { read: life.call(() => journal.read()), write: life.call((record) => journal.write(record)) },
    freeze: { request: life.call((signal) => freeze.request(signal)), release: life.call(() => freeze.release()) },
  };
  try {
    await world.run(over);
    return false;
  } catch (error) {
    if (error instanceof DeadError) return true;
    throw error;
  }
}

/** A world after processes that died one after the other. */
async function after(deaths: readonly Death[]): Promise<{ readonly world: MovingTenancy; readonly calls: number }> {
  const world = new MovingTenancy();
  world.tenantIsBusy(40);
  const tenant = world.source.before;
  let calls = 0;
  for (const death of deaths) {
    const life = new Life(death);
    await live(world, life, tenant);
    calls += life.calls;
  }
  world.source.before = tenant;
  world.source.after = world.target.before = world.target.after = () => undefined;
  return { world, calls };
}

async function callsOfWholeMigration(): Promise<number> {
  return (await after([{ at: Number.MAX_SAFE_INTEGER, afterEffect: false }])).calls;
}

async function everyDeath(check: (world: MovingTenancy, death: Death) => Promise<void>): Promise<void> {
  const calls = await callsOfWholeMigration();
  expect(calls).toBeGreaterThan(50);
  for (let at = 1; at <= calls; at += 1) {
    for (const afterEffect of [false, true]) {
      const death = { at, afterEffect };
      await check((await after([death])).world, death);
    }
  }
}

describe('A migration whose process dies at any call', () => {
  test('is completed by the next process, with every write of the tenant', async () => {
    await everyDeath(async (world) => {
      world.expectDone(await world.run());
    });
  }, 60_000);

  test('is rolled back by the next process when it is canceled, unless it was done', async () => {
    let rolledBack = 0;
    await everyDeath(async (world) => {
      const wasDone = world.phases.at(-1) === 'Done';
      const before = world.source.texts();
      world.source.before = () => undefined;
      world.cancel.abort(new Error('not wanted'));
      const outcome = await world.run();
      if (wasDone) {
        world.expectDone(outcome);
        return;
      }
      rolledBack += 1;
      world.expectRolledBack(outcome, /not wanted/);
      expect(world.source.texts()).toEqual(before);
    });
    expect(rolledBack).toBeGreaterThan(100);
  }, 60_000);

  test('is completed whatever number of processes die, unless all die in the last step', async () => {
    const death = fc.record({ at: fc.integer({ min: 1, max: 60 }), afterEffect: fc.boolean() });
    await fc.assert(
      fc.asyncProperty(fc.array(death, { maxLength: 6 }), async (deaths) => {
        const { world } = await after(deaths);
        const tries = world.records.at(-1)?.tries ?? 0;
        const outcome = await world.run();
        if (outcome.is === 'done') world.expectDone(outcome);
        else {
          expect(tries).toBeGreaterThanOrEqual(3);
          world.expectRolledBack(outcome, /never finished/);
        }
      }),
      { numRuns: 150 },
    );
  }, 60_000);
});
