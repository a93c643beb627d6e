import { expect, test } from '@jest/globals';
import { systemClock } from '../../runtime/clock.ts';
import { countBytes } from './count-bytes.ts';
import type { Session, Tenancy, Tenant } from '../driver.ts';
import { canaries } from '../isolation/canaries.ts';
import { verifyIsolation } from '../isolation/verify-isolation.ts';
import type { IsolationVerdict } from '../isolation/verify-isolation.ts';
import type { Stage } from './stage.ts';

/** The longest time that one verification may take on an otherwise idle machine. */
const most = { ms: 2000, bytes: 2 ** 20 };

/** Verifies the store as the product does; `session` may make the canary tenancies in another way. */
function verify<Config>(
  { store, ...stage }: Stage<Config>,
  session: Session = stage.session,
): Promise<IsolationVerdict> {
  const { driver, config } = store;
  const signal = new AbortController().signal;
  return verifyIsolation({ driver, config, session, id: 'contract', clock: systemClock, signal });
}

/** A session that makes tenancies as this one does, and then calls `plant` with the two that it made. */
function planting(session: Session, plant: (attacker: Tenant, victim: Tenant) => Promise<void>): Session {
  const made: Tenant[] = [];
  return new Proxy(session, {
    get: (target, name) => {
      const value: unknown = Reflect.get(target, name, target);
      if (typeof value !== 'function') return value;
      if (name !== 'ensure') return value.bind(target) as unknown;
      return async (tenancy: Tenancy): Promise<void> => {
        await target.ensure(tenancy);
        made.push({ tenancy, tls: undefined });
        const [attacker, victim] = made;
        if (attacker !== undefined && victim !== undefined) await plant(attacker, victim);
      };
    },
  });
}

/** What the product finds out about a server by itself. */
export function testVerification<Config>(started: () => Stage<Config>): void {
  test('is verified to isolate tenants with little traffic in little time, and holds nothing more afterwards', async () => {
    const stage = started();
    const before = await stage.store.dump();
    // The first one also loads modules and opens connections, which the others do not.
    await verify(stage);
    const begun = performance.now();
    const { result, bytes } = await countBytes(() => verify(stage));
    const ms = Math.round(performance.now() - begun);
    process.stderr.write(
      `verification ${stage.title}: ${result.attempts} attempts, ${result.breach === undefined ? 0 : 1} breaches, ${ms} ms, ${bytes} bytes\n`,
    );
    expect(result).toEqual({ attempts: result.attempts });
    expect(result.attempts).toBeGreaterThan(0);
    expect(bytes).toBeLessThan(most.bytes);
    expect(await stage.store.dump()).toEqual(before);
  }, 60_000);

  test('is found to let a tenant out for every mistake that a person or a driver can make with it', async () => {
    const stage = started();
    const { store, session, title } = stage;
    const before = await store.dump();
    for (const fault of store.plantedFaults.filter(({ unverified }) => unverified !== true)) {
      const { attempts, breach } = await verify(stage, planting(session, fault.plant.bind(fault)));
      process.stderr.write(
        `verification ${title} [planted: ${fault.name}]: ${breach ?? 'nothing'} in ${attempts} attempts\n`,
      );
      expect({ fault: fault.name, found: breach !== undefined }).toEqual({ fault: fault.name, found: true });
    }
    expect(await store.dump()).toEqual(before);
  }, 240_000);

  test('is verified again although the process died in the middle of a verification', async () => {
    const stage = started();
    const before = await stage.store.dump();
    for (const tenancy of canaries('contract', stage.store.driver.capabilities)) await stage.session.ensure(tenancy);
    expect(await verify(stage)).toEqual({ attempts: expect.any(Number) });
    expect(await stage.store.dump()).toEqual(before);
  }, 60_000);
}
