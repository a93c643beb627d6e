import { stateCondition } from '../../api/conditions.ts';
import { bytesText, numberOf } from '../../api/quantity.ts';
import type { StatedCondition } from '../../api/conditions.ts';
import type { DataStore, DataStoreStatus } from '../../api/steward/v1alpha1/data-store.ts';
import { dataStoresOf } from '../../api/steward/v1alpha1/data-stores-of.ts';
import { retainedKey } from '../../api/steward/v1alpha1/retained-control-plane.ts';
import type { TenantControlPlane } from '../../api/steward/v1alpha1/tenant-control-plane.ts';
import { isTrue, setConditions, summarize } from '../../runtime/reconcile/conditions.ts';
import type { ServerState } from '../../stores/driver.ts';
import type { StoreError } from '../../stores/store-error.ts';
import { drainFindings } from './drain/drain-status.ts';
import type { DrainInput } from './drain/drain-status.ts';
import { drainedCondition } from './drain/drained-condition.ts';
import type { Finding } from './probes.ts';

/** The users that are reported for a DataStore. */
export interface UsersQuery {
  readonly tenants: readonly TenantControlPlane[];
  /** DataStore of tenants that neither name nor select one; empty for none. */
  readonly defaultDataStore: string;
}

/** The TenantControlPlanes that a DataStore may hold data of. */
export interface StoredTenants {
  /** All that exist, and the deleted ones whose data is retained. */
  readonly tenants: readonly TenantControlPlane[];
  /** Those of `tenants` that are deleted; none by default. */
  readonly retained?: readonly TenantControlPlane[];
  /** Objects whose data may be in any datastore, as text: as long as there are some, no DataStore is deleted. */
  readonly unknown: readonly string[];
}

/** What the progress of a drain is computed from, besides the DataStore and its users. */
export type DrainFacts = Pick<DrainInput, 'tenants' | 'retained' | 'defaultDataStore' | 'namespace'>;

/** What a status is made of. */
export interface StatusInput {
  readonly store: DataStore;
  /** As `namespace/name`, in order. */
  readonly usedBy: readonly string[];
  readonly drain: DrainFacts;
  readonly finding: Finding;
  readonly now: Date;
}

const parts = ['Reachable', 'Authorized', 'VersionSupported'] as const;

/**
 * The TenantControlPlanes whose data is in the store or about to be, as `namespace/name`, each once, in the order of their
 * bytes.
 */
export function usersOf(store: string, { tenants, defaultDataStore }: UsersQuery): readonly string[] {
  const names = tenants
    .filter((tcp) => dataStoresOf(tcp, defaultDataStore).includes(store))
    .map(({ metadata }) => `${metadata.namespace}/${metadata.name}`);
  return [...new Set(names)].sort();
}

/** The users in the status, with those of one namespace as they are now: the other namespaces belong to another manager. */
export function withUsersOf(namespace: string, before: readonly string[], now: readonly string[]): readonly string[] {
  if (namespace === '') return now;
  const others = before.filter((user) => !user.startsWith(`${namespace}/`));
  return [...new Set([...others, ...now])].sort();
}

/** The whole status after a reconcile. The last known version stays while the datastore cannot be reached. */
export function statusOf(input: StatusInput): DataStoreStatus {
  const { store, usedBy, finding, now } = input;
  const before = store.status ?? {};
  const at = { generation: store.metadata.generation, now };
  const stated = 'state' in finding ? conditionsOfState(finding.state) : conditionsOfFailure(finding.failure);
  const detailed = setConditions(before.conditions ?? [], stated, at);
  const summary = summarize(detailed, parts, 'Ready');
  const { drain, conditions: withDrain } = drainOf(input, detailed);
  const conditions = setConditions(withDrain, [summary], at);
  const serverVersion = 'state' in finding ? finding.state.version : before.serverVersion;
  const sizeBytes = steady(before.sizeBytes, 'state' in finding ? finding.state.sizeBytes : undefined);
  const mostTenants = store.spec.placement?.capacity?.tenants;
  return {
    observedGeneration: at.generation,
    ...etcdStatus(before.etcd?.storageVersion, finding),
    conditions,
    ready: isTrue(conditions, 'Ready'),
    serverVersion,
    usedBy,
    tenants: usedBy.length,
    ...(mostTenants !== undefined && { availableTenants: Math.max(mostTenants - usedBy.length, 0) }),
    ...(drain !== undefined && { drain }),
    sizeBytes,
  };
}

/** The progress of a drain, and the conditions with it. */
function drainOf(
  { store, usedBy, drain, now }: Pick<StatusInput, 'store' | 'usedBy' | 'drain' | 'now'>,
  conditions: NonNullable<DataStoreStatus['conditions']>,
): Required<Pick<DataStoreStatus, 'conditions'>> & Pick<DataStoreStatus, 'drain'> {
  const findings = drainFindings({ store, usedBy, ...drain });
  const drained = drainedCondition(store, findings);
  const before = conditions.filter(({ type }) => drained !== undefined || type !== 'Drained');
  const at = { generation: store.metadata.generation, now };
  return {
    conditions: drained === undefined ? before : setConditions(before, [drained], at),
    drain: findings?.status,
  };
}

/** The last reported size until it differs by more than a hundredth: a datastore in use grows with every probe. */
function steady(before: number | undefined, now: number | undefined): number | undefined {
  if (before === undefined || now === undefined) return now ?? before;
  return Math.abs(now - before) > Math.max(before / 100, 2 ** 20) ? now : before;
}

/** The last reported format of the data stays while the datastore cannot be reached. */
function etcdStatus(before: string | undefined, finding: Finding): Pick<DataStoreStatus, 'etcd'> {
  const storageVersion = 'state' in finding ? finding.state.storageVersion : before;
  return storageVersion === undefined ? {} : { etcd: { storageVersion } };
}

/** Why no more tenants are placed in the datastore; undefined while it accepts some. */
export function fullness({ spec }: DataStore, status: DataStoreStatus | undefined): string | undefined {
  const { tenants, size } = spec.placement?.capacity ?? {};
  const { tenants: held = 0, sizeBytes = 0 } = status ?? {};
  const remedy = 'no more tenants are placed here: raise spec.placement.capacity, or add a DataStore';
  if (tenants !== undefined && held >= tenants) return `holds ${held} of ${tenants} tenants; ${remedy}`;
  const most = size === undefined ? Infinity : (numberOf(size) ?? Infinity);
  if (sizeBytes < most) return undefined;
  return `holds ${bytesText(sizeBytes)} of ${bytesText(most)}; ${remedy}`;
}

/** The status of a store that is to be deleted while tenants have their data in it. */
export function statusInUse(
  store: DataStore,
  {
    usedBy,
    message,
    drain,
  }: { readonly usedBy: readonly string[]; readonly message: string; readonly drain: DrainFacts },
  now: Date,
): DataStoreStatus {
  const condition = stateCondition('DataStore', {
    type: 'Deleting',
    status: 'True',
    reason: 'InUse',
    message,
  });
  const at = { generation: store.metadata.generation, now };
  const progress = drainOf({ store, usedBy, drain, now }, store.status?.conditions ?? []);
  const conditions = setConditions(progress.conditions, [condition], at);
  return { ...store.status, drain: progress.drain, conditions, usedBy, tenants: usedBy.length };
}

/** How to fix it when its users prevent the deletion. */
const inUseRemedy =
  'delete these TenantControlPlanes or migrate them to another DataStore, for example all of them with spec.drain';

/** Says whose data prevents the deletion; names at most ten. */
function inUseReason(usedBy: readonly string[]): string {
  const more = usedBy.length > 10 ? ` and ${usedBy.length - 10} more` : '';
  return `holds the data of ${usedBy.slice(0, 10).join(', ')}${more}`;
}

/** Says that data is retained in the datastore, and by which RetainedControlPlanes; names at most ten. */
function retainedReason(retained: readonly string[]): string {
  const more = retained.length > 10 ? ` and ${retained.length - 10} more` : '';
  return `holds retained data, that of RetainedControlPlane ${retained.slice(0, 10).join(', ')}${more}`;
}

/** How to fix it when retained data prevents the deletion. */
const retainedRemedy =
  'delete it, which removes the data, or let a TenantControlPlane adopt the data, and migrate that one to another DataStore';

/** Says for which objects it is unknown whether the datastore holds their data; names at most ten. */
function unknownReason(unknown: readonly string[]): string {
  const more = unknown.length > 10 ? ` and ${unknown.length - 10} more` : '';
  return `it is unknown whether it holds data of ${unknown.slice(0, 10).join(', ')}${more}`;
}

/** How to fix it when that is unknown. */
const unknownRemedy = 'repair or delete these RetainedControlPlanes, or permit the manager to list them';

/** Whose data prevents the deletion of a DataStore. */
export interface Holders {
  /** TenantControlPlanes, as `namespace/name`. */
  readonly usedBy: readonly string[];
  /** Names of RetainedControlPlanes. */
  readonly retained: readonly string[];
  /** Objects for which it is unknown, as text. */
  readonly unknown: readonly string[];
}

/** Whose data is in the store, or may be. */
export function holdersOf(
  store: string,
  { tenants, retained = [], unknown }: StoredTenants,
  defaultDataStore: string,
): Holders {
  const deleted = new Set(retained);
  return {
    usedBy: usersOf(store, { tenants: tenants.filter((tcp) => !deleted.has(tcp)), defaultDataStore }),
    retained: retained
      .filter((tcp) => dataStoresOf(tcp, defaultDataStore).includes(store))
      .map((tcp) => retainedKey(tcp).name)
      .sort(),
    unknown,
  };
}

/** Why a DataStore is not deleted, each reason with its remedy; empty if it may be deleted. */
export function keptBecause({
  usedBy,
  retained,
  unknown,
}: Holders): readonly { readonly reason: string; readonly remedy: string }[] {
  return [
    ...(usedBy.length > 0 ? [{ reason: `it ${inUseReason(usedBy)}`, remedy: inUseRemedy }] : []),
    ...(retained.length > 0 ? [{ reason: `it ${retainedReason(retained)}`, remedy: retainedRemedy }] : []),
    ...(unknown.length > 0 ? [{ reason: unknownReason(unknown), remedy: unknownRemedy }] : []),
  ];
}

function conditionsOfState(state: ServerState): readonly StatedCondition[] {
  const { version, supported, floor, notes = [] } = state;
  const tooOld = `version ${version} does not isolate tenants: upgrade the datastore to ${floor} or later`;
  return [
    stateCondition('DataStore', { type: 'Reachable', status: 'True', reason: 'Reachable', message: notes.join('; ') }),
    stateCondition('DataStore', { type: 'Authorized', status: 'True', reason: 'Authorized', message: '' }),
    stateCondition(
      'DataStore',
      supported
        ? { type: 'VersionSupported', status: 'True', reason: 'Supported', message: `version ${version}` }
        : { type: 'VersionSupported', status: 'False', reason: 'Unsupported', message: tooOld },
    ),
  ];
}

const unasked = { status: 'Unknown', reason: 'NotReported', message: 'the datastore was not checked' } as const;

/** What a failure means for each check: those after the failed one were not made. */
function conditionsOfFailure({ reason, message }: StoreError): readonly StatedCondition[] {
  const unknown = (type: (typeof parts)[number]): StatedCondition => stateCondition('DataStore', { type, ...unasked });
  const reached = stateCondition('DataStore', { type: 'Reachable', status: 'True', reason: 'Reachable', message: '' });
  const refused = (why: 'Unauthorized' | 'CredentialsMissing' | 'CredentialsInvalid'): StatedCondition =>
    stateCondition('DataStore', { type: 'Authorized', status: 'False', reason: why, message });
  switch (reason) {
    case 'CredentialsMissing':
    case 'CredentialsInvalid':
      return [unknown('Reachable'), refused(reason), unknown('VersionSupported')];
    case 'Unauthorized':
      return [reached, refused(reason), unknown('VersionSupported')];
    case 'Unsupported':
      return [
        unknown('Reachable'),
        unknown('Authorized'),
        stateCondition('DataStore', { type: 'VersionSupported', status: 'False', reason, message }),
      ];
    case 'Unreachable':
    case 'Failed':
    case 'InvalidName':
    case 'OwnedByAnother':
    case 'SingleTenant':
      return [
        stateCondition('DataStore', {
          type: 'Reachable',
          status: 'False',
          reason: reason === 'Unreachable' ? reason : 'Failed',
          message,
        }),
        unknown('Authorized'),
        unknown('VersionSupported'),
      ];
  }
}
