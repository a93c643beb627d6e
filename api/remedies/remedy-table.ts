import { commonRemedies } from './common-remedies.ts';
import { stewardControlPlaneRemedies } from './steward-control-plane-remedies.ts';
import { backupPolicyRemedies, tenantBackupRemedies, tenantRestoreRemedies } from './backup-remedies.ts';
import { controlPlaneClaimRemedies, controlPlanePoolRemedies } from './pool-remedies.ts';
import type { Remedy } from './remedy.ts';
import { dataStoreRemedies } from './data-store-remedies.ts';
import { tenantControlPlaneRemedies } from './tenant-control-plane-remedies.ts';

type Remedies = Readonly<Record<string, Readonly<Record<string, Remedy>>>>;

/** What to do about the conditions of these kinds: type → reason → remedy. The reasons of all conditions are `commonRemedies`. */
export const remedyTable = {
  TenantControlPlane: tenantControlPlaneRemedies,
  DataStore: dataStoreRemedies,
  StewardControlPlane: stewardControlPlaneRemedies,
  ControlPlanePool: controlPlanePoolRemedies,
  ControlPlaneClaim: controlPlaneClaimRemedies,
  BackupPolicy: backupPolicyRemedies,
  TenantBackup: tenantBackupRemedies,
  TenantRestore: tenantRestoreRemedies,
} as const;

/** A kind whose conditions have remedies. */
export type RemediedKind = keyof typeof remedyTable;

/** The remedy for a reason; undefined for one that no condition of the kind has, such as that of another API server. */
export function remedyFor(kind: RemediedKind, type: string, reason: string): Remedy | undefined {
  const rows: Remedies = remedyTable[kind];
  const common: Readonly<Record<string, Remedy>> = commonRemedies;
  return rows[type]?.[reason] ?? common[reason];
}
