import type { ManagementCluster } from '../connect/management-cluster.ts';
import { exitCodes } from '../frame/exit-codes.ts';
import { PluginError } from '../frame/plugin-error.ts';
import type { World } from '../frame/world.ts';
import { problemsOfKamaji, warningsOfKamaji } from './check-kamaji.ts';
import type { ImportWay } from './import-way.ts';
import type { KamajiFacts } from './kamaji-facts.ts';
import { kamajiSteps } from './kamaji-steps.ts';
import { kamajiUndoSteps, noWayBackToKamaji } from './kamaji-undo-steps.ts';
import { readKamaji } from './read-kamaji.ts';
import { readingFacts } from './reading-facts.ts';

/** How a control plane of Kamaji is imported: another TenantControlPlane takes over its objects. */
export function kamajiWay(
  { name, datastore }: { readonly name: string; readonly datastore: string | undefined },
  world: World,
  management: ManagementCluster,
): ImportWay<KamajiFacts> {
  const reading = readingFacts(world, management);
  return {
    read: () => readKamaji(name, reading(), datastore),
    steps: kamajiSteps,
    undoSteps: kamajiUndoSteps,
    over: ({ old, ours, namespace }) => {
      if (old !== undefined) return undefined;
      const which = `TenantControlPlane ${namespace}/${name}`;
      if (ours !== undefined) return `${which} is managed by Steward, and there is no longer one of Kamaji`;
      throw new PluginError(`there is no ${which} of Kamaji`, exitCodes.absent);
    },
    problems: problemsOfKamaji,
    warnings: warningsOfKamaji,
    noWayBack: noWayBackToKamaji,
    plan: () => Promise.resolve(undefined),
  };
}
