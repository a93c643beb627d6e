import {
  clusterAddonConditions,
  clusterStackConditions,
  clusterStackReleaseConditions,
} from '../clusterstacks/api/condition-rows.ts';
import type { ConditionRow } from './condition-row.ts';
import { stewardControlPlaneConditions } from './controlplane/condition-rows.ts';
import type { Condition } from './meta.ts';
import {
  backupPolicyConditions,
  tenantBackupConditions,
  tenantRestoreConditions,
} from './steward/v1alpha1/backup/condition-rows.ts';
import { controlPlaneClaimConditions, controlPlanePoolConditions } from './steward/v1alpha1/pool/condition-rows.ts';
import {
  dataStoreConditions,
  kubeconfigGeneratorConditions,
  retainedControlPlaneConditions,
  tenantControlPlaneConditions,
} from './steward/v1alpha1/condition-rows.ts';

/** Reasons that any condition may have. The code that runs the phases sets them. */
export const commonReasons = {
  Succeeded: 'What the condition requires is done.',
  Blocked: 'Another condition has to become True first. The message names it.',
  Failed: 'An error without a more specific reason. It is retried with back-off.',
  Unreachable: 'A required server did not respond.',
  NotReported: 'Nothing has been reported yet.',
  InvalidSpec: 'The spec requests something impossible. It is not retried until the spec changes.',
} as const;

/** Every condition of the project: kind → type → row. Conditions that are not listed here cannot be written. */
export const conditionTable = {
  TenantControlPlane: tenantControlPlaneConditions,
  RetainedControlPlane: retainedControlPlaneConditions,
  DataStore: dataStoreConditions,
  KubeconfigGenerator: kubeconfigGeneratorConditions,
  ControlPlanePool: controlPlanePoolConditions,
  ControlPlaneClaim: controlPlaneClaimConditions,
  BackupPolicy: backupPolicyConditions,
  TenantBackup: tenantBackupConditions,
  TenantRestore: tenantRestoreConditions,
  StewardControlPlane: stewardControlPlaneConditions,
  ClusterStack: clusterStackConditions,
  ClusterStackRelease: clusterStackReleaseConditions,
  ClusterAddon: clusterAddonConditions,
} as const;

export type ConditionKind = keyof typeof conditionTable;

/** Condition types of a kind. */
export type ConditionTypeOf<K extends ConditionKind> = keyof (typeof conditionTable)[K] & string;

type RowReasons<Row> = Row extends { readonly reasons: infer R } ? keyof R & string : never;

/** Reasons that a condition may have. */
export type ReasonOf<K extends ConditionKind, T extends ConditionTypeOf<K>> =
  RowReasons<(typeof conditionTable)[K][T]> | keyof typeof commonReasons;

/** A condition without the times, which the runtime sets. */
export interface StatedCondition<T extends string = string, R extends string = string> extends Pick<
  Condition,
  'status' | 'message'
> {
  readonly type: T;
  readonly reason: R;
}

/** A condition of a kind. The compiler checks it against the table. */
export function stateCondition<K extends ConditionKind, T extends ConditionTypeOf<K>>(
  _kind: K,
  condition: StatedCondition<T, ReasonOf<K, NoInfer<T>>>,
): StatedCondition<T, ReasonOf<K, T>> {
  return condition;
}

/** True if the table has this reason for this condition. For reasons that arrive as text, such as those of errors. */
export function isReasonOf<K extends ConditionKind, T extends ConditionTypeOf<K>>(
  kind: K,
  type: T,
  reason: string,
): reason is ReasonOf<K, T> {
  const rows: Readonly<Record<string, ConditionRow>> = conditionTable[kind];
  return reason in commonReasons || reason in (rows[type]?.reasons ?? {});
}
