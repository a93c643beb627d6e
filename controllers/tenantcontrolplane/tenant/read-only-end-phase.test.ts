import { describe, expect, test } from '@jest/globals';
import { kinds } from '../../../api/core/kinds.ts';
import { freezePolicy } from '../../../api/names.ts';
import { MigrationWorld } from '../../../testing/worlds/migration-world.ts';
import { freezeManifests } from '../datastore/migration/read-only-policy.ts';

const { ValidatingAdmissionPolicy: policyKind, ValidatingAdmissionPolicyBinding: bindingKind } = kinds;
const name = { name: freezePolicy };

/** What a request does that its sender has given up: it takes effect all the same. */
async function freezeLate(world: MigrationWorld): Promise<void> {
  const [policy, binding] = freezeManifests({ leadersRenew: true });
  await world.tenant.admin.apply(policyKind, policy, { fieldManager: 'steward' });
  await world.tenant.admin.apply(bindingKind, binding, { fieldManager: 'steward' });
}

async function leftOver(world: MigrationWorld): Promise<number> {
  const found = [await world.tenant.admin.get(policyKind, name), await world.tenant.admin.get(bindingKind, name)];
  return found.filter((one) => one !== undefined).length;
}

async function migrated(): Promise<MigrationWorld> {
  const world = new MigrationWorld();
  await world.running();
  await world.moveTo('other');
  await world.migrate();
  await world.settle();
  return world;
}

describe('A request to deny writes that takes effect after its migration', () => {
  test('is undone within half a minute while requests of the migration may still be under way', async () => {
    const world = await migrated();
    await freezeLate(world);
    expect((await world.reconcile()).afterMs ?? Infinity).toBeLessThanOrEqual(30_000);
    await world.clock.advance(30_000);
    await world.reconcile();
    expect(await leftOver(world)).toBe(0);
    expect(world.events.join('\n')).toContain('WritesAllowedAgain: ');
  });

  test('is undone by the check of a quarter of an hour however late it takes effect', async () => {
    const world = await migrated();
    await world.clock.advance(3_600_000);
    await world.settle();
    await freezeLate(world);
    await world.clock.advance(15 * 60_000);
    await world.reconcile();
    expect(await leftOver(world)).toBe(0);
    expect(await world.state()).toBe('Ready');
  });

  test('is undone by the next process', async () => {
    const world = await migrated();
    await freezeLate(world);
    world.restart();
    await world.settle();
    expect(await leftOver(world)).toBe(0);
    expect(await world.state()).toBe('Ready');
  });

  test('is undone if only the policy has arrived', async () => {
    const world = await migrated();
    await freezeLate(world);
    await world.tenant.admin.delete(bindingKind, name);
    world.restart();
    await world.settle();
    expect(await leftOver(world)).toBe(0);
  });
});

describe('The policy of a migration', () => {
  test('stays during a migration, also when the manager restarts', async () => {
    const world = new MigrationWorld();
    await world.running();
    await world.moveTo('other');
    await world.until('Finishing');
    world.restart();
    await world.reconcile();
    expect(await leftOver(world)).toBe(2);
  });

  test('is not looked for in a tenant that never had another spec', async () => {
    const world = new MigrationWorld();
    const asked: string[] = [];
    world.tenant.before(({ kind, verb }) => {
      if (kind === bindingKind && verb === 'get') asked.push(verb);
    });
    await world.running();
    expect(asked).toEqual([]);
  });
});
