import { describe, expect, test } from '@jest/globals';
import { kinds } from '../../api/core/kinds.ts';
import { annotations } from '../../api/names.ts';
import { silent } from '../../runtime/observe/logger.ts';
import type { Migrate } from '../../stores/migration/migration.ts';
import { secretReader } from '../../stores/secret-reader.ts';
import { Sessions } from '../../stores/sessions.ts';
import { StoreAccess } from '../../stores/store-access.ts';
import { MigrationWorld } from '../../testing/worlds/migration-world.ts';
import { runMigration } from './run-migration.ts';
import type { MigrationTask } from './run-migration.ts';

/** A tenant whose migration has its Job. */
async function begun(): Promise<MigrationWorld> {
  const world = new MigrationWorld();
  await world.running();
  await world.moveTo('other');
  for (let reconciles = 0; reconciles < 3; reconciles += 1) await world.reconcile();
  return world;
}

/** The process of the Job, with an engine of the test's own. */
async function run(world: MigrationWorld, migrate: Migrate, task: Partial<MigrationTask> = {}): Promise<unknown> {
  const { clock, cluster } = world;
  const stores = new StoreAccess({
    drivers: [world.store.driver, world.target.driver],
    sessions: new Sessions({ clock }),
    read: secretReader((key) => cluster.admin.get(kinds.Secret, key)),
  });
  return runMigration(
    {
      tenant: { namespace: 'default', name: 'tenant' },
      target: 'other',
      operatorNamespace: 'steward-system',
      cleanup: false,
      timeoutMs: 60_000,
      ...task,
    },
    { cluster: cluster.admin, stores, clock, log: silent, migrate, signal: new AbortController().signal },
  );
}

const never: Migrate = () => Promise.reject(new Error('the engine was not to be started'));
const done: Migrate = () => Promise.resolve({ is: 'rolled-back', reason: 'enough' });

/** Puts something into the target under the tenant's own names. */
async function leftover(world: MigrationWorld): Promise<void> {
  const { schema = '' } = (await world.record()).target;
  world.target.dataOf(schema).tenantWrites({ is: 'put', entry: { key: 'a', value: Buffer.from('b') } });
}

describe('The process of a migration', () => {
  test('does not replace existing data in the target, and the message names the fix', async () => {
    const world = await begun();
    await leftover(world);
    await expect(run(world, never)).rejects.toThrow('already holds 1 keys of this tenant');
    expect(await world.told(annotations.migrationFailure)).toContain(annotations.cleanupPriorMigration);
    const { schema = '' } = (await world.record()).target;
    expect(world.target.dataOf(schema).content().size).toBe(1);
  });

  test('removes existing data in the target first with the option cleanup', async () => {
    const world = await begun();
    await leftover(world);
    await run(world, done, { cleanup: true });
    const { schema = '' } = (await world.record()).target;
    expect(world.target.dataOf(schema).content().size).toBe(0);
    expect(world.target.tenancies.size).toBe(1);
  });

  test('continues with what an earlier process has copied', async () => {
    const world = await begun();
    await leftover(world);
    await world.say({ journal: { phase: 'Copying' } });
    await expect(run(world, done)).resolves.toMatchObject({ reason: 'enough' });
  });

  test('does nothing for a Job of another migration or to another datastore', async () => {
    const world = await begun();
    await expect(run(world, never, { target: 'default' })).rejects.toThrow('to DataStore default is under way');
    const job = await world.job();
    const body = { metadata: { annotations: { [annotations.migrationStarted]: '2020-01-01T00:00:00Z' } } };
    const key = { namespace: job?.metadata.namespace ?? '', name: job?.metadata.name ?? '' };
    await world.cluster.admin.patch(kinds.Job, key, { type: 'merge', body });
    await expect(run(world, never)).rejects.toThrow('is under way for this Job');
  });

  test('reports its result if another attempt is to follow', async () => {
    const world = await begun();
    await expect(run(world, () => Promise.reject(new Error('the disk is full')))).rejects.toThrow('the disk is full');
    expect(await world.told(annotations.migrationFailure)).toBeUndefined();
    await world.reconcile();
    const { message } = await world.record();
    expect(message).toBe('the Job is starting: the disk is full');
  });

  test('rolls back when its time is over, and when the controller requests it', async () => {
    const reasons: string[] = [];
    const waits: Migrate = ({ cancel }) =>
      new Promise((resolve) => {
        cancel?.addEventListener('abort', () => {
          const { message } = cancel.reason as Error;
          reasons.push(message);
          resolve({ is: 'rolled-back', reason: message });
        });
      });
    const late = await begun();
    const first = run(late, waits, { timeoutMs: 30_000 });
    await late.clock.advance(30_000);
    await first;
    const unwanted = await begun();
    const second = run(unwanted, waits);
    await unwanted.clock.advance(1000);
    await unwanted.say({ journal: { phase: 'Copying' } });
    await unwanted.moveTo('default');
    for (let reconciles = 0; reconciles < 2; reconciles += 1) await unwanted.reconcile();
    await unwanted.clock.advance(2000);
    await second;
    expect(reasons).toEqual([
      expect.stringContaining('it took longer than 30 s'),
      'DataStore other is no longer requested',
    ]);
  });
});
