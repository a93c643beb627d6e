import { expect, test } from '@jest/globals';
import { systemClock } from '../../runtime/clock.ts';
import type { ServerState } from '../driver.ts';
import { Sessions } from '../sessions.ts';
import type { Stage } from './stage.ts';

/** How a store is reached, and what is said when it is not. */
export function testConnection<Config>(started: () => Stage<Config>, slowness: number): void {
  test('reports the version, the required version and the size of the server', async () => {
    const state: ServerState = await started().session.ping();
    expect(state).toMatchObject({ supported: true });
    expect(state.version).toMatch(/^\d+\.\d+/);
    expect(state.sizeBytes).toBeGreaterThan(0);
    expect(state.notes).toBeUndefined();
  });

  test('soon reports why a datastore cannot be used, without secrets', async () => {
    const stage = started();
    for (const { name, config, reason } of await stage.store.unusable()) {
      await using broken = await stage.open(config);
      const begun = performance.now();
      const error = await broken.ping().then(
        () => new Error('no error'),
        (thrown: unknown) => thrown,
      );
      expect({ name, error }).toMatchObject({ name, error: { name: 'StoreError', reason } });
      expect(String(error)).not.toContain('PRIVATE KEY');
      expect(performance.now() - begun).toBeLessThan(10_000 * slowness);
    }
  }, 60_000);

  test('works while one endpoint is dead, and reports which', async () => {
    const stage = started();
    await using partial = await stage.open(stage.store.withDeadEndpoint());
    const state = await partial.ping();
    expect(state.supported).toBe(true);
    expect(state.notes?.join()).toContain('ECONNREFUSED');
    const tenancy = stage.newTenancy();
    await partial.ensure(tenancy);
    await partial.remove(tenancy);
  });

  test('uses rotated credentials of the administrator in a running pool, and drops the previous ones', async () => {
    const stage = started();
    const { driver } = stage.store;
    const administrator = await stage.store.rotatingAdministrator();
    await using sessions = new Sessions({ clock: systemClock });
    const tenancy = stage.newTenancy();
    await sessions.use(driver, administrator.config, (session) => session.ensure(tenancy));
    const rotated = await administrator.rotate();
    expect(driver.checksum(rotated)).not.toBe(driver.checksum(administrator.config));
    await sessions.use(driver, rotated, (session) => session.ensure(tenancy));
    await using outdated = await stage.open(administrator.config);
    await expect(outdated.ping()).rejects.toMatchObject({ reason: 'Unauthorized' });
    await sessions.use(driver, rotated, (session) => session.remove(tenancy));
  });
}
