import { kinds } from '../../../api/core/kinds.ts';
import type { Key, Resource } from '../../../api/meta.ts';
import { migrationJob } from '../../../api/names.ts';
import { tenantControlPlane } from '../../../api/steward/v1alpha1/tenant-control-plane.ts';
import { shareAtEnd } from '../../../controllers/tenantcontrolplane/datastore/migration/migration-record.ts';
import type { PlannedWorld } from './planned-world.ts';

/** Lets a migration end well that a plan has started: the data is in the target, and its Job is gone. */
export async function endMigration(world: PlannedWorld, key: Key, managerNamespace: string): Promise<void> {
  const tcp = await world.read(key);
  const storage = tcp?.status?.storage;
  if (tcp === undefined || storage?.migration === undefined) return;
  const record = { ...storage.migration, phase: 'Succeeded', finishedAt: storage.migration.startedAt } as const;
  const share = shareAtEnd(record);
  const next = { ...storage, ...share, setup: { ...storage.setup, ...share?.setup }, migration: record };
  await world.management.put(tenantControlPlane, { ...tcp, status: { ...tcp.status, storage: next } } as Resource);
  await world.management.delete(kinds.Job, { namespace: managerNamespace, name: migrationJob(tcp.metadata.uid) });
}
