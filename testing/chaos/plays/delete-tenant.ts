import { tenantControlPlane } from '../../../api/steward/v1alpha1/tenant-control-plane.ts';
import type { Play } from './play.ts';
import { running } from './running.ts';

export const deleteTenant: Play = {
  name: 'delete',
  about: 'a tenant that is used is deleted',
  prepare: (world) => running(world),
  acts: [
    {
      goal: 'the TenantControlPlane is gone',
      act: async (world) => {
        world.isUsed = false;
        world.user.acknowledged.clear();
        await world.cluster.admin.delete(tenantControlPlane, { namespace: 'default', name: 'tenant' });
      },
      reached: async (world) => !(await world.exists()),
    },
  ],
};
