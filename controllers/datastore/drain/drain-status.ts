import { annotations } from '../../../api/names.ts';
import type { DataStore } from '../../../api/steward/v1alpha1/data-store.ts';
import type { DataStoreDrainStatus } from '../../../api/steward/v1alpha1/data-store-drain.ts';
import { dataStoreName } from '../../../api/steward/v1alpha1/data-stores-of.ts';
import { requestedDataStore } from '../../../api/steward/v1alpha1/requested-data-store.ts';
import { isUnderWay } from '../../../api/steward/v1alpha1/share-in-use.ts';
import { retainedKey } from '../../../api/steward/v1alpha1/retained-control-plane.ts';
import type { TenantControlPlane } from '../../../api/steward/v1alpha1/tenant-control-plane.ts';

/** So many tenants that cannot be migrated are listed. */
const mostBlocked = 10;

/** What the progress of a drain is computed from. */
export interface DrainInput {
  readonly store: DataStore;
  /** The TenantControlPlanes that this process knows of. */
  readonly tenants: readonly TenantControlPlane[];
  /** Those of them that are deleted, and whose data is retained. */
  readonly retained: readonly TenantControlPlane[];
  /** All that have data in the DataStore, as `namespace/name`; with those of which another process knows. */
  readonly usedBy: readonly string[];
  /** DataStore of tenants that neither name nor select one; empty for none. */
  readonly defaultDataStore: string;
  /** Namespace of `tenants`; empty when they are all that there are. */
  readonly namespace: string;
}

/** What is known of a drain. */
export interface DrainFindings {
  readonly status: DataStoreDrainStatus;
  /** True when at least one tenant could go now, or may: another process may know. */
  readonly canGo: boolean;
  /** Retained data, and single resources of tenants, which no migration moves elsewhere. */
  readonly others: number;
}

type Blocked = NonNullable<DataStoreDrainStatus['blocked']>[number];

const textOf = ({ metadata }: TenantControlPlane): string => `${metadata.namespace}/${metadata.name}`;

/** How far the tenants of a DataStore have been migrated to others; undefined when it is not drained. */
export function drainFindings(input: DrainInput): DrainFindings | undefined {
  const { store, tenants, retained, usedBy, defaultDataStore } = input;
  if (store.spec.drain === undefined) return undefined;
  const { name } = store.metadata;
  const isHere = (tcp: TenantControlPlane): boolean =>
    dataStoreName(tcp, defaultDataStore) === name || isLeaving(tcp, name);
  const retainedUids = new Set(retained.map(({ metadata }) => metadata.uid));
  const isRetained = ({ metadata }: TenantControlPlane): boolean => retainedUids.has(metadata.uid);
  const here = tenants.filter((tcp) => isHere(tcp) && !isRetained(tcp));
  const elsewhere = tenants.filter((tcp) => !isHere(tcp));
  const kept = tenants.filter((tcp) => isHere(tcp) && isRetained(tcp));
  const overridden = elsewhere.filter(hasOverrideIn(name));
  const copied = elsewhere.filter((tcp) => !overridden.includes(tcp) && hasCopyIn(name)(tcp));
  const known = new Set(tenants.map(textOf));
  const unknown = usedBy.filter((user) => !known.has(user));
  const reasons = new Map(here.map((tcp) => [tcp, blockedBecause(tcp, name)]));
  const migrating = here.flatMap((tcp) => (reasons.get(tcp) === undefined ? migratingFrom(tcp, name) : []));
  const blocked = [
    ...[...reasons].flatMap(([tcp, reason]) => (reason === undefined ? [] : [{ tenant: textOf(tcp), reason }])),
    ...kept.map((tcp) => ({ tenant: textOf(tcp), reason: retainedReason(tcp) })),
    ...overridden.map((tcp) => ({ tenant: textOf(tcp), reason: overrideReason })),
  ];
  return {
    status: merged(input, {
      migrating: migrating[0],
      blocked,
      copies: copied.length,
      remaining: here.length + unknown.length,
    }),
    canGo: unknown.length > 0 || [...reasons.values()].includes(undefined),
    others: kept.length + overridden.length,
  };
}

/** Until its migration has ended, a tenant needs the servers that it leaves: its credentials there are revoked last. */
function isLeaving({ status }: TenantControlPlane, name: string): boolean {
  const migration = status?.storage?.migration;
  return isUnderWay(migration) && migration.source.dataStoreName === name;
}

const retainedReason = (tcp: TenantControlPlane): string =>
  `it was deleted and its data is retained: delete RetainedControlPlane ${retainedKey(tcp).name}, which removes the data, or create a TenantControlPlane with the same name and let it adopt the data`;
const overrideReason =
  'it stores some resource types here, which are not migrated: remove them from spec.dataStoreOverrides';

interface OwnFindings {
  readonly remaining: number;
  readonly copies: number;
  readonly migrating: DataStoreDrainStatus['migrating'];
  readonly blocked: readonly Blocked[];
}

/** The status with what a manager of another namespace has reported of its tenants. */
function merged({ store, namespace }: DrainInput, own: OwnFindings): DataStoreDrainStatus {
  const before = store.status?.drain;
  const isOthers = ({ tenant }: { readonly tenant: string }): boolean =>
    namespace !== '' && !tenant.startsWith(`${namespace}/`);
  const theirs = before?.migrating !== undefined && isOthers(before.migrating) ? before.migrating : undefined;
  const migrating = own.migrating ?? theirs;
  const blocked = [...own.blocked, ...(before?.blocked ?? []).filter(isOthers)].sort((a, b) =>
    a.tenant < b.tenant ? -1 : 1,
  );
  return {
    remaining: own.remaining,
    copies: own.copies,
    ...(migrating !== undefined && { migrating }),
    ...(blocked.length > 0 && { blocked: blocked.slice(0, mostBlocked) }),
  };
}

/** Why a tenant cannot leave for now; undefined when it can, or does. */
function blockedBecause(tcp: TenantControlPlane, name: string): string | undefined {
  const { drain, migration, setup } = tcp.status?.storage ?? {};
  if (tcp.metadata.annotations?.[annotations.paused] !== undefined)
    return `it is paused: remove the annotation ${annotations.paused}`;
  if (isUnderWay(migration)) return undefined;
  if (setup?.schema === undefined) return 'it has no data yet: its condition StoreReady says what it waits for';
  const requested = requestedDataStore(tcp);
  if (requested !== '' && requested !== name && drain?.dataStoreName !== requested)
    return `its spec.dataStore requests DataStore ${requested}: see its condition Migrating`;
  return drain?.message;
}

function hasCopyIn(name: string): (tcp: TenantControlPlane) => boolean {
  return ({ status }) => (status?.storage?.previous ?? []).some(({ dataStoreName: copied }) => copied === name);
}

function hasOverrideIn(name: string): (tcp: TenantControlPlane) => boolean {
  return ({ spec, status }) =>
    (spec.dataStoreOverrides ?? []).some(({ dataStore }) => dataStore === name) ||
    (status?.storage?.overrides ?? []).some((share) => share.dataStoreName === name);
}

function migratingFrom(
  tcp: TenantControlPlane,
  name: string,
): readonly NonNullable<DataStoreDrainStatus['migrating']>[] {
  const { drain, migration } = tcp.status?.storage ?? {};
  if (drain?.from !== name || drain.dataStoreName === undefined) return [];
  const phase = isUnderWay(migration) ? migration.phase : 'Preparing';
  return [{ tenant: textOf(tcp), dataStoreName: drain.dataStoreName, phase }];
}
