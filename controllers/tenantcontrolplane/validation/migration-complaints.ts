import { annotations } from '../../../api/names.ts';
import { isUnderWay } from '../../../api/steward/v1alpha1/share-in-use.ts';
import type { TenantControlPlane } from '../../../api/steward/v1alpha1/tenant-control-plane.ts';
import type { InvalidInput } from '../../../kubeadm/invalid-input-error.ts';
import { takesBack } from '../components/upgrade/held-version.ts';
import { migrationObstacle } from '../components/migration-obstacle.ts';
import type { DataStoreDrivers } from './data-store-drivers.ts';

/** Why DataStores cannot be used, by name; those that can are absent. */
export type DataStoreTroubles = ReadonlyMap<string, string>;

/** A change of a tenant, and the stores that there are. */
export interface MigrationQuestion {
  readonly tcp: TenantControlPlane;
  /** Absent on creation. */
  readonly old: TenantControlPlane | undefined;
  readonly drivers: DataStoreDrivers;
  readonly troubles: DataStoreTroubles;
}

const field = 'spec.dataStore';

function versionComplaints({ tcp, old }: MigrationQuestion): readonly InvalidInput[] {
  const value = tcp.spec.kubernetes.version;
  const migration = tcp.status?.storage?.migration;
  if (old === undefined || value === old.spec.kubernetes.version || !isUnderWay(migration)) return [];
  if (takesBack(old, value)) return [];
  const reason = `cannot change while the data moves to DataStore ${migration.target.dataStoreName}`;
  const remedy = `wait until that is done, or set spec.dataStore back to ${migration.source.dataStoreName}`;
  return [{ field: 'spec.kubernetes.version', value, reason, remedy }];
}

/** A move that is under way may be taken back until writes are about to be allowed again; it cannot be given another target. */
function changeComplaint(asked: string, { tcp }: MigrationQuestion): InvalidInput | undefined {
  const migration = tcp.status?.storage?.migration;
  if (!isUnderWay(migration) || asked === migration.target.dataStoreName) return undefined;
  const { phase, source, target } = migration;
  const isDone = phase === 'Thawing' || phase === 'Revoking';
  if (asked === source.dataStoreName && !isDone) return undefined;
  const reason = `cannot be chosen while the data moves from ${source.dataStoreName} to ${target.dataStoreName}`;
  const back = isDone ? '' : `, or set it to ${source.dataStoreName} to take the move back`;
  return { field, value: asked, reason, remedy: `wait until that is done${back}` };
}

function beginComplaint(asked: string, { tcp, drivers, troubles }: MigrationQuestion): InvalidInput | undefined {
  const storage = tcp.status?.storage;
  const present = storage?.dataStoreName ?? '';
  if (isUnderWay(storage?.migration) || storage?.setup?.schema === undefined || asked === present) return undefined;
  const trouble = troubles.get(asked);
  if (trouble !== undefined) {
    const remedy = 'mend it first, or name another';
    return { field, value: asked, reason: `names a DataStore that cannot be used (${trouble})`, remedy };
  }
  const obstacle = migrationObstacle(tcp, [storage.driver ?? '', drivers.get(asked) ?? '']);
  return obstacle === undefined ? undefined : { field, value: asked, ...obstacle };
}

/** What is wrong with a wish to move the data of a tenant, and with changes while it moves. */
export function migrationComplaints(question: MigrationQuestion): readonly InvalidInput[] {
  const { tcp, old } = question;
  const asked = tcp.spec.dataStore ?? '';
  const found = versionComplaints(question);
  if (old === undefined || asked === '' || asked === (old.spec.dataStore ?? '')) return found;
  const complaint = changeComplaint(asked, question) ?? beginComplaint(asked, question);
  return complaint === undefined ? found : [...found, complaint];
}

/** Why a tenant may not be deleted now. The annotation that abandons its data lets it go in any case. */
export function deletionComplaints({ metadata, status }: TenantControlPlane): readonly InvalidInput[] {
  if (status?.kubernetesResources?.version?.status !== 'Migrating') return [];
  if (metadata.annotations?.[annotations.abandonData] === 'true') return [];
  const { source } = status.storage?.migration ?? {};
  const reason = 'cannot be deleted while its data moves to another DataStore and nothing can be changed';
  const back = source === undefined ? '' : `, or set spec.dataStore back to ${source.dataStoreName} first`;
  return [{ field: 'metadata.name', value: metadata.name, reason, remedy: `try again in a moment${back}` }];
}
