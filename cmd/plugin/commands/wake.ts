import { Command } from 'commander';
import { counted } from '../../../api/counted.ts';
import { goDuration } from '../../../api/go-duration.ts';
import { tenantControlPlane } from '../../../api/steward/v1alpha1/tenant-control-plane.ts';
import { connectManagement } from '../connect/management-cluster.ts';
import { changeControlPlane } from '../control-plane/change-control-plane.ts';
import { findControlPlane } from '../control-plane/find-control-plane.ts';
import type { ControlPlane } from '../control-plane/find-control-plane.ts';
import { followObject } from '../control-plane/follow-object.ts';
import { replicasBeforeSleep, replicasChange, wantedReplicas } from '../control-plane/replicas-change.ts';
import { overrideChange } from '../control-plane/sleep-override.ts';
import { wakeProgress } from '../control-plane/sleep-progress.ts';
import { ScheduleAnswers } from '../../../controllers/tenantcontrolplane/sleep/schedule-answers.ts';
import { PluginError } from '../frame/plugin-error.ts';
import { timeText, wholeNumber, withConnection, withWait } from '../frame/shared-options.ts';
import type { ConnectionOptions, WaitOptions } from '../frame/shared-options.ts';
import type { World } from '../frame/world.ts';

type Options = ConnectionOptions & WaitOptions & { readonly replicas?: number; readonly until?: string };

/** `wake`: starts the pods of a sleeping control plane. */
export function wakeCommand(world: World): Command {
  const command = new Command('wake')
    .summary('Wake a control plane that sleeps.')
    .description(
      'Sets the number of pods to what it was before sleep, or to 2 if that is not known. One that sleeps by its schedules is kept awake ' +
        'by an annotation until the time at which it would have woken up, or until another one, and its spec is not changed. One that its ' +
        'schedules do not wake up is kept awake until their time to sleep ends, or begins. One that sleeps because nobody used it is kept ' +
        'awake for as long as spec.sleep.afterIdle says.',
    )
    .argument('<name>', 'Name of the control plane.')
    .option('--replicas <number>', 'Number of pods to start.', wholeNumber(1))
    .option('--until <time>', 'Time until which it is not put to sleep.', timeText);
  return withWait(withConnection(command, '5m')).action(async (name: string, options: Options) => {
    await using management = await connectManagement(world, options);
    const plane = await findControlPlane(name, management);
    const replicas = options.replicas ?? replicasBeforeSleep(plane);
    const wakesReplicas = wantedReplicas(plane) === 0;
    if (wakesReplicas) {
      const changed = await changeControlPlane(plane, replicasChange(plane, replicas), management);
      world.note(`${changed} will run ${counted(replicas, 'pod')}`);
    }
    const until = options.until ?? (wakesReplicas ? undefined : endOfSleep(plane, world.clock.now()));
    if (until !== undefined) {
      const changed = await changeControlPlane(plane, overrideChange('Awake', until), management);
      world.note(`${changed} will be awake until ${until}`);
    } else if (!wakesReplicas) {
      world.note(`${plane.name} does not sleep: its spec has ${counted(wantedReplicas(plane), 'pod')}`);
    }
    if (!options.wait || plane.tenant === undefined) return;
    await followObject(tenantControlPlane, plane.tenant.metadata, wakeProgress, { management, world });
  });
}

/**
 * When one that its manager has put to sleep would wake up by itself, or how long it stays awake if nobody uses it. If its schedules do
 * not wake it up: the end of their time to sleep, or the beginning of the next one. Undefined for one that is awake.
 */
function endOfSleep({ name, tenant }: ControlPlane, now: Date): string | undefined {
  const { state, reason, nextTransitionTime } = tenant?.status?.sleep ?? {};
  if (state !== 'Asleep') return undefined;
  const { afterIdle, schedules = [] } = tenant?.spec.sleep ?? {};
  const said = new ScheduleAnswers().at(schedules, now.getTime());
  const isDue = nextTransitionTime !== undefined || said.isAsleep;
  // Awake, it falls asleep again when nobody has used it for as long.
  if (afterIdle !== undefined && (reason === 'Use' || !isDue)) {
    return timeOf(now.getTime() + goDuration(afterIdle));
  }
  if (nextTransitionTime !== undefined) return nextTransitionTime;
  if (said.next !== undefined) return timeOf(said.next);
  throw new PluginError(`it is not known when ${name} would wake up: say until when it is to be awake, with --until`);
}

const timeOf = (time: number): string => new Date(time).toISOString().replace(/\.\d{3}Z$/, 'Z');
