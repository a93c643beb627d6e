import type { Play } from './play.ts';
import { running } from './running.ts';
import { tenantIsReady } from './tenant-is-ready.ts';

export const upgrade: Play = {
  name: 'upgrade',
  about: 'a tenant that is used is upgraded from 1.35 to 1.36',
  prepare: (world) => running(world, { kubernetes: { version: 'v1.35.6' } }),
  acts: [
    {
      goal: 'the tenant is ready with v1.36.3',
      act: (world) => world.change({ spec: { kubernetes: { version: 'v1.36.3' } } }),
      reached: tenantIsReady,
    },
  ],
};
