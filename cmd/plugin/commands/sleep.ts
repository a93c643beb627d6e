import { Command } from 'commander';
import { counted } from '../../../api/counted.ts';
import { tenantControlPlane } from '../../../api/steward/v1alpha1/tenant-control-plane.ts';
import { connectManagement } from '../connect/management-cluster.ts';
import { changeControlPlane } from '../control-plane/change-control-plane.ts';
import { findControlPlane } from '../control-plane/find-control-plane.ts';
import { followObject } from '../control-plane/follow-object.ts';
import { replicasChange, wantedReplicas } from '../control-plane/replicas-change.ts';
import { overrideChange } from '../control-plane/sleep-override.ts';
import { overriddenSleepProgress, sleepProgress } from '../control-plane/sleep-progress.ts';
import { timeText, withConnection, withWait } from '../frame/shared-options.ts';
import type { ConnectionOptions, WaitOptions } from '../frame/shared-options.ts';
import type { World } from '../frame/world.ts';

type Options = ConnectionOptions & WaitOptions & { readonly until?: string };

/** `sleep`: scales a control plane to no pods, or has its manager do so for a while. */
export function sleepCommand(world: World): Command {
  const command = new Command('sleep')
    .summary('Put a control plane to sleep: no pods run, the data stays.')
    .description(
      'Sets the number of pods to 0 and notes on the object how many there were, for wake. Pods on workers keep running, but nothing ' +
        'schedules or replaces them meanwhile. With --until, an annotation requests it until then, and the spec is not changed.',
    )
    .argument('<name>', 'Name of the control plane.')
    .option('--until <time>', 'Time at which it wakes up again, unless its schedules say otherwise then.', timeText);
  return withWait(withConnection(command, '5m')).action(async (name: string, options: Options) => {
    await using management = await connectManagement(world, options);
    const plane = await findControlPlane(name, management);
    const { until } = options;
    if (until !== undefined) {
      const changed = await changeControlPlane(plane, overrideChange('Asleep', until), management);
      world.note(`${changed} will sleep until ${until}`);
    } else if (wantedReplicas(plane) > 0) {
      const changed = await changeControlPlane(plane, replicasChange(plane, 0), management);
      world.note(
        `${changed} will sleep; kubectl steward wake ${plane.name} starts its ${counted(wantedReplicas(plane), 'pod')} again`,
      );
    } else world.note(`${plane.name} already has 0 replicas`);
    if (!options.wait || plane.tenant === undefined) return;
    const progressOf = until === undefined ? sleepProgress : overriddenSleepProgress;
    await followObject(tenantControlPlane, plane.tenant.metadata, progressOf, { management, world });
  });
}
