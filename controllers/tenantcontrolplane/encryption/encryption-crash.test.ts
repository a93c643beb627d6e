import { describe, expect, test } from '@jest/globals';
import { kinds } from '../../../api/core/kinds.ts';
import type { Encryption } from '../../../api/embedded/encryption.ts';
import { crashPoints } from '../../../testing/worlds/crash-points.ts';
import { secretValues } from '../../../testing/worlds/rotating-tenant.ts';
import { settledWorlds } from '../../../testing/worlds/settled-worlds.ts';
import { TenantWorld } from '../../../testing/worlds/tenant-world.ts';

const generated: Encryption = { resources: ['secrets'], provider: 'secretbox' };
const rotated: Encryption = { ...generated, keyGeneration: 2 };
const objects = ['a', 'b', 'c'];

const running = settledWorlds(
  () => new TenantWorld(),
  async (world) => {
    await world.create({ kubernetes: { encryption: generated } });
    await world.settle();
    for (const name of objects) {
      const metadata = { namespace: 'default', name };
      await world.tenant.seed(kinds.Secret, { apiVersion: 'v1', kind: 'Secret', metadata });
    }
  },
);

const want = (world: TenantWorld, encryption: Encryption): Promise<void> =>
  world.change({ spec: { kubernetes: { encryption } } });

/** The Secrets of the tenant that were written again, each once. */
function writtenAgain(world: TenantWorld): readonly string[] {
  const patches = world.tenant.calls.filter(({ verb, kind }) => verb === 'patch' && kind?.kind === 'Secret');
  return [...new Set(patches.map(({ name }) => name ?? ''))].sort();
}

describe('A manager that dies', () => {
  test('after any call of a rotation leads to one new key, and loses no data', async () => {
    const model = await running();
    const { length } = model.cluster.calls;
    await want(model, rotated);
    await model.settle();
    for (const call of crashPoints(model.cluster.calls.length - length, 'rotation of an encryption key')) {
      const world = await running();
      const keys = new Set<string>();
      world.cluster.after(async ({ kind }) => {
        if (kind?.kind !== 'Secret') return;
        const key = (await secretValues(world, 'encryption'))['secretbox.generated-2'];
        if (key !== undefined) keys.add(key);
      });
      await want(world, rotated);
      world.cluster.crashAfter(call, { losesAnswer: true });
      for (let reconciles = 0; reconciles < 20 && !world.cluster.crashed; reconciles += 1) await world.reconcile();
      world.restart();
      await world.settle();
      const { step, resources } = (await world.read()).status?.encryption ?? {};
      expect({ call, keys: keys.size, step, resources }).toEqual({
        call,
        keys: 1,
        step: 'Done',
        resources: [{ resource: 'secrets', writes: 'secretbox/generated-2' }],
      });
      expect(writtenAgain(world)).toEqual(objects);
    }
  }, 900_000);
});
