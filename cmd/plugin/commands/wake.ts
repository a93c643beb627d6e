import { Command } from 'commander';
import { counted } from '../../../api/counted.ts';
import { tenantControlPlane } from '../../../api/steward/v1alpha1/tenant-control-plane.ts';
import { connectManagement } from '../connect/management-cluster.ts';
import { changeControlPlane } from '../control-plane/change-control-plane.ts';
import { findControlPlane } from '../control-plane/find-control-plane.ts';
import { followObject } from '../control-plane/follow-object.ts';
import { replicasBeforeSleep, replicasChange, wantedReplicas } from '../control-plane/replicas-change.ts';
import { wakeProgress } from '../control-plane/sleep-progress.ts';
import { wholeNumber, withConnection, withWait } from '../frame/shared-options.ts';
import type { ConnectionOptions, WaitOptions } from '../frame/shared-options.ts';
import type { World } from '../frame/world.ts';

type Options = ConnectionOptions & WaitOptions & { readonly replicas?: number };

/** `wake`: starts the pods of a sleeping control plane. */
export function wakeCommand(world: World): Command {
  const command = new Command('wake')
    .summary('Wake a control plane that sleeps.')
    .description('Sets the number of pods to what it was before sleep, or to 2 if that is not known.')
    .argument('<name>', 'Name of the control plane.')
    .option('--replicas <number>', 'Number of pods to start.', wholeNumber(1));
  return withWait(withConnection(command, '5m')).action(async (name: string, options: Options) => {
    await using management = await connectManagement(world, options);
    const plane = await findControlPlane(name, management);
    const replicas = options.replicas ?? replicasBeforeSleep(plane);
    if (wantedReplicas(plane) === 0) {
      const changed = await changeControlPlane(plane, replicasChange(plane, replicas), management);
      world.note(`${changed} will run ${counted(replicas, 'pod')}`);
    } else world.note(`${plane.name} does not sleep: its spec has ${counted(wantedReplicas(plane), 'pod')}`);
    if (!options.wait || plane.tenant === undefined) return;
    await followObject(tenantControlPlane, plane.tenant.metadata, wakeProgress, { management, world });
  });
}
