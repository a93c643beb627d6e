import type { TenantControlPlaneSpec } from '../../../api/steward/v1alpha1/tenant-control-plane.ts';
import type { InvalidInput } from '../../../kubeadm/invalid-input-error.ts';
import { eventsResource } from '../components/etcd-overrides.ts';
import { overridableProblem } from '../components/overridable-resources.ts';
import { missingStore, refusedStore } from './data-store-drivers.ts';
import type { DataStoreDrivers, DataStoreRefusals } from './data-store-drivers.ts';

type Overrides = NonNullable<TenantControlPlaneSpec['dataStoreOverrides']>;
type Override = Overrides[number];

/** A list of overrides, and what it meets. */
export interface OverrideQuestion {
  readonly overrides: Overrides;
  /** The DataStores of everything else: the one in use and the one that is asked for. */
  readonly mains: readonly string[];
  readonly drivers: DataStoreDrivers;
  readonly refusals?: DataStoreRefusals | undefined;
  /** Overrides that were accepted before: a store may be gone by now. */
  readonly accepted?: Overrides;
  /** Where the resources of a tenant that has data are; absent for one that has none yet. */
  readonly held?: Overrides | undefined;
  /** The DataStore that the data of everything else is asked to move to. */
  readonly movesTo?: string | undefined;
}

const list = 'spec.dataStoreOverrides';

function isAmong(overrides: Overrides, { resource, dataStore }: Override): boolean {
  return overrides.some((other) => other.resource === resource && other.dataStore === dataStore);
}

function resourceComplaint(field: string, { resource = '' }: Override): InvalidInput | undefined {
  const problem = overridableProblem(resource);
  return problem === undefined ? undefined : { field: `${field}.resource`, value: resource, ...problem };
}

function storeComplaint(
  field: string,
  { dataStore = '' }: Override,
  { drivers, refusals }: Pick<OverrideQuestion, 'drivers' | 'refusals'>,
): InvalidInput | undefined {
  const at = `${field}.dataStore`;
  if (dataStore === '')
    return { field: at, value: '', reason: 'is empty', remedy: 'name a DataStore with driver etcd' };
  const driver = drivers.get(dataStore);
  if (driver === undefined) return missingStore(at, dataStore);
  const refusal = refusals?.get(dataStore);
  if (refusal !== undefined) return refusedStore(at, dataStore, refusal);
  if (driver === 'etcd') return undefined;
  const reason = `has driver ${driver}, and DataStoreOverrides can only use ETCD driver`;
  return { field: at, value: dataStore, reason, remedy: 'name a DataStore with driver etcd' };
}

/** What is wrong with one override, each by itself. */
function complaintsAboutOne(question: OverrideQuestion, override: Override, index: number): readonly InvalidInput[] {
  const { overrides, mains, accepted = [] } = question;
  const field = `${list}[${index}]`;
  const { resource = '', dataStore = '' } = override;
  const found: (InvalidInput | undefined)[] = [];
  if (!isAmong(accepted, override)) {
    found.push(resourceComplaint(field, override), storeComplaint(field, override, question));
  }
  if (overrides.findIndex((other) => other.resource === resource) !== index) {
    const reason = 'is a duplicate resource override in Spec.DataStoreOverrides';
    found.push({ field: `${field}.resource`, value: resource, reason, remedy: 'remove one of the two' });
  }
  if (dataStore !== '' && mains.includes(dataStore)) {
    const reason = 'is the DataStore of everything else';
    const remedy = 'take the override out or name another DataStore';
    found.push({ field: `${field}.dataStore`, value: dataStore, reason, remedy });
  }
  return found.filter((complaint) => complaint !== undefined);
}

/** kine's keys begin alike for every tenant, and its socket takes no TLS: kube-apiserver has one prefix and one set of TLS files. */
function complaintAboutMain({ overrides, mains, drivers }: OverrideQuestion): readonly InvalidInput[] {
  const other = mains.find((main) => (drivers.get(main) ?? 'etcd') !== 'etcd');
  if (overrides.length === 0 || other === undefined) return [];
  const reason = `need a DataStore with driver etcd for everything else, and ${other} has driver ${drivers.get(other) ?? ''}: kube-apiserver has one key prefix and one set of TLS files for all of its stores`;
  return [{ field: list, reason, remedy: 'take the overrides out or name a DataStore with driver etcd' }];
}

/** Objects stay where they are when a resource gets another store: they would be gone for the tenant, and come back later. */
function complaintsAboutMoves({ overrides, held }: OverrideQuestion): readonly InvalidInput[] {
  if (held === undefined) return [];
  const place = (of: Overrides, resource: string): string =>
    of.find((override) => override.resource === resource)?.dataStore ?? '';
  const resources = new Set([...held, ...overrides].map(({ resource = '' }) => resource));
  return [...resources].flatMap((resource) => {
    const [from, to] = [place(held, resource), place(overrides, resource)];
    if (from === to || resource === eventsResource) return [];
    const named = (name: string): string => (name === '' ? 'the DataStore of everything else' : `DataStore ${name}`);
    const reason = `cannot move ${resource} from ${named(from)} to ${named(to)}: its objects would stay behind, and the tenant would not find them; only ${eventsResource} may change its place, and loses what it has`;
    const remedy =
      from === '' ? `take the override of ${resource} out` : `name DataStore ${from} for ${resource} again`;
    return [{ field: list, reason, remedy }];
  });
}

function complaintAboutMigration({ overrides, movesTo }: OverrideQuestion): readonly InvalidInput[] {
  if (movesTo === undefined || overrides.length === 0) return [];
  const reason = `cannot change while ${list} keeps single resources elsewhere: they do not move along`;
  return [{ field: 'spec.dataStore', value: movesTo, reason, remedy: 'take the overrides out first' }];
}

/** Everything that is wrong with a list of overrides. */
export function overrideComplaints(question: OverrideQuestion): readonly InvalidInput[] {
  return [
    ...complaintAboutMain(question),
    ...complaintAboutMigration(question),
    ...question.overrides.flatMap((override, index) => complaintsAboutOne(question, override, index)),
    ...complaintsAboutMoves(question),
  ];
}
