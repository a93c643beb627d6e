import { annotations } from '../../../../api/names.ts';
import { isUnderWay } from '../../../../api/steward/v1alpha1/share-in-use.ts';
import type { TenantControlPlane } from '../../../../api/steward/v1alpha1/tenant-control-plane.ts';
import type { InvalidInput } from '../../../../kubeadm/invalid-input-error.ts';
import { versionFacts } from '../../upgrade/version-facts.ts';
import { cancelsUpgrade } from '../../upgrade/version-under-way.ts';
import type { DataStoreDrivers } from '../data-store-drivers.ts';
import { flagName } from '../../shared/arguments.ts';
import { wantedStore } from './migration-record.ts';
import { firstMinorWithPolicies, versionWithoutPolicies } from './read-only-policy.ts';

/** Why DataStores cannot be used, by name; those that can are absent. */
export type DataStoreTroubles = ReadonlyMap<string, string>;

/** A change of a tenant, and the existing DataStores. */
export interface MigrationRequest {
  readonly tcp: TenantControlPlane;
  /** Absent on creation. */
  readonly old: TenantControlPlane | undefined;
  readonly drivers: DataStoreDrivers;
  readonly troubles: DataStoreTroubles;
  /** The newest hosted minor of Kubernetes 1; defaults to the newest tested one. */
  readonly newestMinor?: number | undefined;
}

const field = 'spec.dataStore';

function validateVersion({ tcp, old, newestMinor }: MigrationRequest): readonly InvalidInput[] {
  const value = tcp.spec.kubernetes.version;
  const migration = tcp.status?.storage?.migration;
  if (old === undefined || value === old.spec.kubernetes.version || !isUnderWay(migration)) return [];
  if (cancelsUpgrade(tcp, old, newestMinor)) return [];
  const reason = `cannot change while the data is being migrated to DataStore ${migration.target.dataStoreName}`;
  const remedy = `wait for the migration to finish, or set spec.dataStore back to ${migration.source.dataStoreName}`;
  return [{ field: 'spec.kubernetes.version', value, reason, remedy }];
}

/** A migration can be canceled until writes are about to be allowed again; its target cannot be changed. */
function validateChange(requested: string, { tcp }: MigrationRequest): InvalidInput | undefined {
  const migration = tcp.status?.storage?.migration;
  if (!isUnderWay(migration) || requested === migration.target.dataStoreName) return undefined;
  const { phase, source, target } = migration;
  const isDone = phase === 'ResumingWrites' || phase === 'Revoking';
  if (requested === source.dataStoreName && !isDone) return undefined;
  const reason = `cannot be chosen while the data is being migrated from ${source.dataStoreName} to ${target.dataStoreName}`;
  const back = isDone ? '' : `, or set it to ${source.dataStoreName} to cancel the migration`;
  return { field, value: requested, reason, remedy: `wait for the migration to finish${back}` };
}

function validateBegin(requested: string, { tcp, drivers, troubles }: MigrationRequest): InvalidInput | undefined {
  const storage = tcp.status?.storage;
  const present = storage?.dataStoreName ?? '';
  if (isUnderWay(storage?.migration) || storage?.setup?.schema === undefined || requested === present) return undefined;
  const trouble = troubles.get(requested);
  if (trouble !== undefined) {
    const remedy = 'repair it first, or use another one';
    return { field, value: requested, reason: `names a DataStore that cannot be used (${trouble})`, remedy };
  }
  const blocker = migrationBlocker(tcp, [storage.driver ?? '', drivers.get(requested) ?? '']);
  return blocker === undefined ? undefined : { field, value: requested, ...blocker };
}

/** Validates a requested migration, and changes during a migration. */
export function validateMigration(request: MigrationRequest): readonly InvalidInput[] {
  const { tcp, old } = request;
  const requested = tcp.spec.dataStore ?? '';
  const found = validateVersion(request);
  if (old === undefined || requested === '' || requested === (old.spec.dataStore ?? '')) return found;
  const error = validateChange(requested, request) ?? validateBegin(requested, request);
  return error === undefined ? found : [...found, error];
}

/** Warns the author of a request whose consequence is an outage. */
export function migrationWarnings(tcp: TenantControlPlane): readonly string[] {
  const tooOld = versionWithoutPolicies(versionFacts({ tcp }));
  const target = wantedStore(tcp);
  if (tooOld === undefined || target === undefined) return [];
  return [
    `spec.dataStore: Kubernetes ${tooOld} cannot deny writes, so the API servers are stopped for the end of the migration to DataStore ${target}: for the last changes, and until pods that use it are ready; v1.${firstMinorWithPolicies} and later answer reads all the time`,
  ];
}

/** Why a tenant must not be deleted now. With the annotation that abandons its data, it always may. */
export function validateDeletion({ metadata, status }: TenantControlPlane): readonly InvalidInput[] {
  if (status?.kubernetesResources?.version?.status !== 'Migrating') return [];
  if (metadata.annotations?.[annotations.abandonData] === 'true') return [];
  const { source } = status.storage?.migration ?? {};
  const reason = 'cannot be deleted while its data is being migrated to another DataStore and writes are denied';
  const back = source === undefined ? '' : `, or set spec.dataStore back to ${source.dataStoreName} first`;
  return [{ field: 'metadata.name', value: metadata.name, reason, remedy: `try again in a moment${back}` }];
}

/** Why a tenant's data cannot be migrated at all, and what to do. */
export interface Blocker {
  readonly reason: string;
  readonly remedy: string;
}

/** What prevents a migration between datastores with these drivers; undefined when nothing does. */
export function migrationBlocker(tcp: TenantControlPlane, drivers: readonly string[]): Blocker | undefined {
  if ((tcp.spec.dataStoreOverrides ?? []).length > 0) {
    const reason =
      'cannot change while spec.dataStoreOverrides stores some resource types elsewhere: they are not migrated';
    return { reason, remedy: 'remove the overrides first' };
  }
  const extra = tcp.spec.controlPlane.deployment.extraArgs?.apiServer ?? [];
  const encrypted = extra.some((argument) => flagName(argument) === 'encryption-provider-config');
  // In etcd the keys begin with the schema, with kine they are the same for every tenant; encryption may depend on the key.
  if (encrypted && drivers.includes('etcd')) {
    const reason =
      'cannot change while kube-apiserver has --encryption-provider-config: encrypted values may be bound to their keys in the datastore, which a migration changes';
    const remedy = 'first have the API server rewrite everything unencrypted, then remove the flag';
    return { reason, remedy };
  }
  const bound = (tcp.status?.encryption?.resources ?? [])
    .flatMap(({ writes, reads = [] }) => [writes, ...reads])
    .find((id) => id.startsWith('aesgcm/') || id.startsWith('kms/'));
  if (bound !== undefined && drivers.includes('etcd')) {
    const reason = `cannot change while stored data is encrypted with ${bound}: its values are bound to their keys in the datastore, which a migration changes`;
    const remedy =
      'first set provider secretbox or aescbc in spec.kubernetes.encryption, or remove that, and wait until status.encryption.step is Done';
    return { reason, remedy };
  }
  return undefined;
}
