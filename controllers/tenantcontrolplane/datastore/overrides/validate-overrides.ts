import type { TenantControlPlaneSpec } from '../../../../api/steward/v1alpha1/tenant-control-plane.ts';
import type { InvalidInput } from '../../../../kubeadm/invalid-input-error.ts';
import { eventsResource } from './etcd-overrides.ts';
import { overridableProblem } from './overridable-resources.ts';
import { drainedStore, missingStore, refusedStore } from '../data-store-drivers.ts';
import type { DataStoreDrivers, DataStoreRefusals } from '../data-store-drivers.ts';

type Overrides = NonNullable<TenantControlPlaneSpec['dataStoreOverrides']>;
type Override = Overrides[number];

/** A list of overrides, and the facts to validate it against. */
export interface OverrideRequest {
  readonly overrides: Overrides;
  /** The DataStores of everything else: the current one and the requested one. */
  readonly mains: readonly string[];
  readonly drivers: DataStoreDrivers;
  readonly refusals?: DataStoreRefusals | undefined;
  /** DataStores that are being drained. */
  readonly drained?: ReadonlySet<string> | undefined;
  /** Overrides that were accepted before: their DataStore may be gone now. */
  readonly accepted?: Overrides;
  /** Where the resources of a tenant with data are stored; absent for a tenant without data. */
  readonly held?: Overrides | undefined;
  /** The DataStore that everything else is to be migrated to. */
  readonly movesTo?: string | undefined;
}

const list = 'spec.dataStoreOverrides';

function isAmong(overrides: Overrides, { resource, dataStore }: Override): boolean {
  return overrides.some((other) => other.resource === resource && other.dataStore === dataStore);
}

function validateResource(field: string, { resource = '' }: Override): InvalidInput | undefined {
  const problem = overridableProblem(resource);
  return problem === undefined ? undefined : { field: `${field}.resource`, value: resource, ...problem };
}

function validateStore(
  field: string,
  { dataStore = '' }: Override,
  { drivers, refusals, drained }: Pick<OverrideRequest, 'drivers' | 'refusals' | 'drained'>,
): InvalidInput | undefined {
  const at = `${field}.dataStore`;
  if (dataStore === '') return { field: at, value: '', reason: 'is empty', remedy: 'use a DataStore with driver etcd' };
  const driver = drivers.get(dataStore);
  if (driver === undefined) return missingStore(at, dataStore);
  const refusal = refusals?.get(dataStore);
  if (refusal !== undefined) return refusedStore(at, dataStore, refusal);
  if (drained?.has(dataStore) === true) return drainedStore(at, dataStore);
  if (driver === 'etcd') return undefined;
  const reason = `has driver ${driver}, and DataStoreOverrides can only use ETCD driver`;
  return { field: at, value: dataStore, reason, remedy: 'use a DataStore with driver etcd' };
}

/** Validates a single override. */
function validateOne(request: OverrideRequest, override: Override, index: number): readonly InvalidInput[] {
  const { overrides, mains, accepted = [] } = request;
  const field = `${list}[${index}]`;
  const { resource = '', dataStore = '' } = override;
  const found: (InvalidInput | undefined)[] = [];
  if (!isAmong(accepted, override)) {
    found.push(validateResource(field, override), validateStore(field, override, request));
  }
  if (overrides.findIndex((other) => other.resource === resource) !== index) {
    const reason = 'is a duplicate resource override in Spec.DataStoreOverrides';
    found.push({ field: `${field}.resource`, value: resource, reason, remedy: 'remove one of the two' });
  }
  if (dataStore !== '' && mains.includes(dataStore)) {
    const reason = 'is already the main DataStore';
    const remedy = 'remove the override or use another DataStore';
    found.push({ field: `${field}.dataStore`, value: dataStore, reason, remedy });
  }
  return found.filter((error) => error !== undefined);
}

/**
 * With kine the keys of all tenants begin alike, and its socket uses no TLS, but kube-apiserver has only one prefix and one set
 * of TLS files.
 */
function validateMain({ overrides, mains, drivers }: OverrideRequest): readonly InvalidInput[] {
  const other = mains.find((main) => (drivers.get(main) ?? 'etcd') !== 'etcd');
  if (overrides.length === 0 || other === undefined) return [];
  const reason = `need a main DataStore with driver etcd, but ${other} has driver ${drivers.get(other) ?? ''}: kube-apiserver has one key prefix and one set of TLS files for all of its datastores`;
  return [{ field: list, reason, remedy: 'remove the overrides or use a DataStore with driver etcd' }];
}

/** Objects are not moved when a resource gets another datastore: the tenant would lose them, and they would reappear later. */
function validateMoves({ overrides, held }: OverrideRequest): readonly InvalidInput[] {
  if (held === undefined) return [];
  const place = (of: Overrides, resource: string): string =>
    of.find((override) => override.resource === resource)?.dataStore ?? '';
  const resources = new Set([...held, ...overrides].map(({ resource = '' }) => resource));
  return [...resources].flatMap((resource) => {
    const [from, to] = [place(held, resource), place(overrides, resource)];
    if (from === to || resource === eventsResource) return [];
    const named = (name: string): string => (name === '' ? 'the main DataStore' : `DataStore ${name}`);
    const reason = `cannot change the DataStore of ${resource} from ${named(from)} to ${named(to)}: its objects would be left behind and missing in the tenant; only that of ${eventsResource} may change, and its existing objects are lost`;
    const remedy = from === '' ? `remove the override of ${resource}` : `use DataStore ${from} for ${resource} again`;
    return [{ field: list, reason, remedy }];
  });
}

function validateMigration({ overrides, movesTo }: OverrideRequest): readonly InvalidInput[] {
  if (movesTo === undefined || overrides.length === 0) return [];
  const reason = `cannot change while ${list} stores some resource types elsewhere: they are not migrated`;
  return [{ field: 'spec.dataStore', value: movesTo, reason, remedy: 'remove the overrides first' }];
}

/** All validation errors of a list of overrides. */
export function validateOverrides(request: OverrideRequest): readonly InvalidInput[] {
  return [
    ...validateMain(request),
    ...validateMigration(request),
    ...request.overrides.flatMap((override, index) => validateOne(request, override, index)),
    ...validateMoves(request),
  ];
}
