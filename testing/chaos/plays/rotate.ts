import { ask, publishAuthorities, rotationOf } from '../../worlds/rotating-tenant.ts';
import type { ChaosWorld } from '../world/chaos-world.ts';
import type { Play } from './play.ts';
import { running } from './running.ts';
import { tenantIsReady } from './tenant-is-ready.ts';

/** Whether the rotation has come so far; the tenant's controller manager publishes meanwhile what it is given. */
const isPhase =
  (phase: string) =>
  async (world: ChaosWorld): Promise<boolean> => {
    if ((await world.deployment()) !== undefined) await publishAuthorities(world);
    return (await rotationOf(world))?.phase === phase && (await tenantIsReady(world));
  };

export const rotate: Play = {
  name: 'rotate',
  about: 'the CAs and keys of a tenant that is used are rotated, in two steps',
  prepare: (world) => running(world),
  acts: [
    {
      goal: 'old and new CAs are trusted',
      act: (world) => ask(world, 'rotate-credentials-start'),
      reached: isPhase('Prepared'),
    },
    {
      goal: 'only the new CAs are trusted',
      act: (world) => ask(world, 'rotate-credentials-complete'),
      reached: isPhase('Completed'),
    },
  ],
};
