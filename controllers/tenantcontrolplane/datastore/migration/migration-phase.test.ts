import { describe, expect, test } from '@jest/globals';
import { kinds } from '../../../../api/core/kinds.ts';
import type { Job } from '../../../../api/core/kinds.ts';
import { MigrationWorld } from '../../../../testing/worlds/migration-world.ts';
import { listedInformers } from '../../../../testing/fake/listed-informers.ts';

/** A world in which the watch of Jobs has seen these. */
function watching(seen: readonly Job[]): MigrationWorld {
  return new MigrationWorld({ informers: () => listedInformers({ Job: () => seen }) });
}

/** The same during a migration, which has a Job. */
async function copying(seen: readonly Job[]): Promise<{ readonly world: MigrationWorld; readonly job: Job }> {
  const world = watching(seen);
  await world.running();
  await world.moveTo('other');
  await world.until('Copying');
  const job = await world.job();
  if (job === undefined) throw new Error('the migration has no Job');
  return { world, job };
}

describe('A request to create the Job of a migration that takes effect after its end', () => {
  test('leaves no Job behind once the watch has seen it', async () => {
    const seen: Job[] = [];
    const { world, job } = await copying(seen);
    await world.migrate();
    const { name, namespace, labels, annotations } = job.metadata;
    await world.cluster.seed(kinds.Job, { ...job, metadata: { name, namespace, labels, annotations } });
    seen.push(job);
    await world.settle();
    expect(await world.job()).toBeUndefined();
    expect((await world.record()).phase).toBe('Succeeded');
  });

  test('is not looked for in the API server while the watch has seen none', async () => {
    const world = watching([]);
    await world.running();
    const asked: string[] = [];
    world.cluster.before(({ kind, verb }) => {
      if (kind?.kind === 'Job') asked.push(verb);
    });
    await world.reconcile();
    expect(asked).toEqual([]);
  });
});

describe('The Job of a migration', () => {
  test('stays while the migration is under way', async () => {
    const seen: Job[] = [];
    const { world, job } = await copying(seen);
    seen.push(job);
    await world.reconcile();
    expect(await world.job()).toBeDefined();
  });
});
