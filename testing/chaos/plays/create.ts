import type { Play } from './play.ts';
import { tenantIsReady } from './tenant-is-ready.ts';

export const create: Play = {
  name: 'create',
  about: 'a TenantControlPlane is created, and a manager is started',
  fromStart: true,
  prepare: async (world) => {
    await world.create();
  },
  acts: [{ goal: 'the tenant is ready', act: () => Promise.resolve(), reached: tenantIsReady }],
};
