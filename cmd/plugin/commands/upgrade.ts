import { Command } from 'commander';
import { tenantControlPlane } from '../../../api/steward/v1alpha1/tenant-control-plane.ts';
import { normalizeVersion } from '../../../kubeadm/versions.ts';
import { connectManagement } from '../connect/management-cluster.ts';
import { changeControlPlane, clusterPatchCommand } from '../control-plane/change-control-plane.ts';
import { findControlPlane } from '../control-plane/find-control-plane.ts';
import { followObject } from '../control-plane/follow-object.ts';
import { upgradeProgress } from '../control-plane/upgrade-progress.ts';
import { withConnection, withWait } from '../frame/shared-options.ts';
import type { ConnectionOptions, WaitOptions } from '../frame/shared-options.ts';
import type { World } from '../frame/world.ts';

/** `upgrade`: changes the Kubernetes version. */
export function upgradeCommand(world: World): Command {
  const command = new Command('upgrade')
    .summary('Upgrade a control plane to another Kubernetes version.')
    .description(
      'Sets the version of the TenantControlPlane, or of the StewardControlPlane that owns it, and shows the progress until the new ' +
        'version serves. Workers are not upgraded.',
    )
    .argument('<name>', 'Name of the control plane.')
    .argument('<version>', 'Kubernetes version, such as v1.36.3.');
  return withWait(withConnection(command, '15m')).action(
    async (name: string, version: string, options: ConnectionOptions & WaitOptions) => {
      const wanted = normalizeVersion(version);
      await using management = await connectManagement(world, options);
      const plane = await findControlPlane(name, management);
      const patch = { spec: { topology: { version: wanted } } };
      const changed = await changeControlPlane(
        plane,
        {
          tenant: { spec: { kubernetes: { version: wanted } } },
          parent: { spec: { version: wanted } },
          topology: (cluster) =>
            `change spec.topology.version of the Cluster, which also upgrades the workers: ${clusterPatchCommand(plane.namespace, cluster, patch)}`,
        },
        management,
      );
      world.note(`${changed} will run ${wanted}`);
      if (!options.wait || plane.tenant === undefined) return;
      const progress = upgradeProgress.bind(undefined, wanted);
      await followObject(tenantControlPlane, plane.tenant.metadata, progress, { management, world });
    },
  );
}
