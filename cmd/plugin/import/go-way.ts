import type { ManagementCluster } from '../connect/management-cluster.ts';
import { clusterReader } from '../explain/cluster-reader.ts';
import { exitCodes } from '../frame/exit-codes.ts';
import { PluginError } from '../frame/plugin-error.ts';
import type { World } from '../frame/world.ts';
import { readPlanSettings } from '../plan/read-plan-settings.ts';
import { isImportedFromGo, problemsOfGo, warningsOfGo } from './check-go.ts';
import { isReleased } from './go-facts.ts';
import type { GoFacts } from './go-facts.ts';
import { goSteps, goUndoSteps, noWayBackToGo } from './go-steps.ts';
import type { ImportWay } from './import-way.ts';
import { planImport } from './plan-import.ts';
import { readGo } from './read-go.ts';
import { readingFacts } from './reading-facts.ts';

/** How a control plane of the Go Steward is imported: in place, under its own object. */
export function goWay(
  { name, managerNamespace }: { readonly name: string; readonly managerNamespace: string },
  world: World,
  management: ManagementCluster,
): ImportWay<GoFacts> {
  const reading = readingFacts(world, management);
  const { cluster, signal } = management;
  return {
    read: () => readGo(name, reading(), managerNamespace),
    steps: goSteps,
    undoSteps: goUndoSteps,
    over: (facts) => {
      const which = `TenantControlPlane ${facts.namespace}/${name}`;
      if (facts.tcp === undefined) throw new PluginError(`there is no ${which}`, exitCodes.absent);
      return isImportedFromGo(facts) ? `${which} is managed by Steward already` : undefined;
    },
    problems: problemsOfGo,
    warnings: warningsOfGo,
    noWayBack: noWayBackToGo,
    plan: async (facts) => {
      if (facts.tcp === undefined || isReleased(facts)) return undefined;
      const reader = clusterReader(cluster, signal);
      const { settings } = await readPlanSettings(reader, managerNamespace);
      return planImport(facts.tcp, { reader, settings, now: world.clock.now() });
    },
  };
}
