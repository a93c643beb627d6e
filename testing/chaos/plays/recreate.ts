import { tenantControlPlane } from '../../../api/steward/v1alpha1/tenant-control-plane.ts';
import { backedUp, createRestore } from './create-restore.ts';
import type { Play } from './play.ts';
import { until } from './running.ts';

export const recreate: Play = {
  name: 'recreate',
  about: 'a tenant that was deleted is created again from its backup, with its CAs and keys',
  prepare: async (world) => {
    await backedUp(world);
    await world.cluster.admin.delete(tenantControlPlane, { namespace: 'default', name: 'tenant' });
    await until(world, 'the TenantControlPlane is gone', async () => !(await world.exists()));
  },
  acts: [createRestore({ type: 'Recreate' })],
};
