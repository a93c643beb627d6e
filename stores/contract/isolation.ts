import { expect, test } from '@jest/globals';
import type { Tenant } from '../driver.ts';
import { runAttempts } from '../isolation/run-attempts.ts';
import { runMatrix, sum, reportIsolation } from './attack-matrix.ts';
import type { Stage } from './stage.ts';

/** Two tenants that hold data, in the order of their schemas' bytes. */
async function neighbors<Config>(stage: Stage<Config>): Promise<readonly [first: Tenant, second: Tenant]> {
  const [left, right] = [await stage.settle(), await stage.settle()];
  await stage.use(left, 'left');
  await stage.use(right, 'right');
  return Buffer.compare(Buffer.from(left.tenancy.schema), Buffer.from(right.tenancy.schema)) < 0
    ? [left, right]
    : [right, left];
}

/** Two live tenants with real credentials, and whether these tests would see it if they were not apart. */
export function testIsolation<Config>(started: () => Stage<Config>): void {
  test('gives no tenant access to another tenancy, to keys between them, or to administration', async () => {
    const stage = started();
    const { store } = stage;
    const [first, second] = await neighbors(stage);
    const results = [];
    for (const [attacker, victim] of [
      [first, second],
      [second, first],
    ] as const) {
      await using attack = await stage.probe.attack(store.config, attacker, victim);
      expect(attack.lanes.flat().length).toBeGreaterThan(0);
      const before = await store.dump();
      results.push(await runAttempts(attack, stage.probe));
      expect(await store.dump()).toEqual(before);
    }
    const all = sum(results);
    reportIsolation(stage.title, all);
    expect(all).toEqual({ attempts: all.attempts, breaches: [], unclear: [] });
  }, 120_000);

  test('detects the same attacks once there is a hole, and ensure closes the hole', async () => {
    const stage = started();
    const { store, session, title } = stage;
    expect(store.plantedFaults.length).toBeGreaterThan(0);
    // One pair for all holes: what one of them leaves open is a breach of the matrix that follows.
    const [attacker, victim] = await neighbors(stage);
    for (const fault of store.plantedFaults) {
      await fault.plant(attacker, victim);
      const open = await runMatrix(stage, attacker, victim);
      reportIsolation(title, open, ` [planted: ${fault.name}]`);
      expect({ fault: fault.name, found: open.breaches.length > 0 }).toEqual({ fault: fault.name, found: true });
      await session.ensure(attacker.tenancy);
      await session.ensure(victim.tenancy);
      const closed = await runMatrix(stage, attacker, victim);
      expect({ fault: fault.name, ...closed }).toMatchObject({ fault: fault.name, breaches: [], unclear: [] });
    }
    await session.remove(attacker.tenancy);
    await session.remove(victim.tenancy);
  }, 240_000);
}
