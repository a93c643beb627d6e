import { expect, test } from '@jest/globals';
import { systemClock } from '../../runtime/clock.ts';
import { countBytes } from './count-bytes.ts';
import { watchCrowding } from './crowding.ts';
import type { Session, Tenancy, Tenant } from '../driver.ts';
import { canaries } from '../isolation/canaries.ts';
import { verifyIsolation } from '../isolation/verify-isolation.ts';
import type { IsolationVerdict } from '../isolation/verify-isolation.ts';
import type { Stage } from './stage.ts';

/** What one verification may need on an otherwise idle machine. */
const most = { ms: 2000, bytes: 2 ** 20 };

/** On a busy machine, one that took too long is repeated so many times. */
const tries = 3;

/** Verifies the store as the product does; `session` may make the canary tenancies in another way. */
function verify<Config>(
  { store, ...stage }: Stage<Config>,
  session: Session = stage.session,
): Promise<IsolationVerdict> {
  const { driver, config } = store;
  const signal = new AbortController().signal;
  return verifyIsolation({ driver, config, session, id: 'contract', clock: systemClock, signal });
}

/** Verifies the store once, and measures what that needs. */
async function measured<Config>(stage: Stage<Config>) {
  const crowding = watchCrowding();
  const begun = performance.now();
  const { result, bytes } = await countBytes(() => verify(stage));
  const ms = performance.now() - begun;
  // The server waits for its processor as this process does.
  return { result, bytes, ms: Math.round(ms), ownMs: Math.round(ms / crowding()) };
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
export function testVerification<Config>(started: () => Stage<Config>, slowness: number): void {
  test('is verified to isolate tenants with little traffic in little time, and holds nothing more afterwards', async () => {
    const stage = started();
    const before = await stage.store.dump();
    // The first one also loads modules and opens connections, which the others do not.
    await verify(stage);
    let { result, bytes, ms, ownMs } = await measured(stage);
    for (let tried = 1; tried < tries && ownMs >= most.ms * slowness; tried += 1)
      ({ result, bytes, ms, ownMs } = await measured(stage));
    const { version } = await stage.session.ping();
    process.stderr.write(
      `verification ${stage.title}: ${result.attempts} attempts, ${result.breach === undefined ? 0 : 1} breaches, ${ms} ms (${ownMs} ms without waiting for others), ${bytes} bytes, version ${version}\n`,
    );
    expect(result).toEqual({ attempts: result.attempts });
    expect(result.attempts).toBeGreaterThan(0);
    expect(bytes).toBeLessThan(most.bytes);
    expect(ownMs).toBeLessThan(most.ms * slowness);
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
