import { kinds } from '../../../api/core/kinds.ts';
import { drivers } from '../../controllers.ts';
import { readManagerSettings } from '../../flags/manager-settings.ts';
import type { ObjectReader } from '../explain/object-reader.ts';
import { managerLabels } from '../manager-labels.ts';
import type { PlanSettings } from './plan-settings.ts';

/** Settings, and what is to be said about where they come from. */
export interface FoundSettings {
  readonly settings: PlanSettings;
  /** Why the settings may not be those of the manager. */
  readonly note?: string;
}

/** The settings of the manager, from the arguments and variables of its Deployment; the defaults if it is not found. */
export async function readPlanSettings(
  reader: Pick<ObjectReader, 'list'>,
  managerNamespace: string,
): Promise<FoundSettings> {
  const found =
    (await reader.list(kinds.Deployment, { namespace: managerNamespace, labelSelector: managerLabels })) ?? [];
  const containers = found.flatMap(({ spec }) => spec?.template.spec?.containers ?? []);
  const manager = containers.find(({ name }) => name === 'manager') ?? containers[0];
  const [first, ...rest] = manager?.args ?? [];
  // The first argument may be the name of the command.
  const args = first === undefined || first === 'manager' ? rest : [first, ...rest];
  const variables = (manager?.env ?? []).map(({ name, value }) => [name, value] as const);
  const read = (given: readonly string[], environment: Readonly<Record<string, string | undefined>>): PlanSettings => {
    const settings = readManagerSettings(given, { ...environment, POD_NAMESPACE: managerNamespace });
    const { defaultDataStore, newestMinor, kineImage, boundaries, reach, renewBeforeMs, monitoring } = settings;
    const ofAll = { managerNamespace, drivers, defaultDataStore, newestMinor, kineImage };
    return { ...ofAll, boundaries, reach, renewBeforeMs, monitoring };
  };
  if (manager === undefined)
    return {
      settings: read([], {}),
      note: `no manager was found in the namespace ${managerNamespace}: its default settings are assumed`,
    };
  try {
    return { settings: read(args, Object.fromEntries(variables)) };
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error);
    return {
      settings: read([], {}),
      note: `the arguments of the manager cannot be read, so its default settings are assumed: ${why}`,
    };
  }
}
