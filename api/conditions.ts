import {
  clusterAddonConditions,
  clusterStackConditions,
  clusterStackReleaseConditions,
} from './clusterstack/condition-rows.ts';
import type { ConditionRow } from './condition-row.ts';
import { stewardControlPlaneConditions } from './controlplane/condition-rows.ts';
import type { Condition } from './meta.ts';
import {
  dataStoreConditions,
  kubeconfigGeneratorConditions,
  tenantControlPlaneConditions,
} from './steward/v1alpha1/condition-rows.ts';

/** Reasons that any condition may carry, given by the machine that runs the phases. */
export const commonReasons = {
  Succeeded: 'What the condition asks for is done.',
  Blocked: 'Something else must be done before; the message names it.',
  Failed: 'An error without a reason of its own; it is retried with growing pauses.',
  Unreachable: 'A server that is needed did not answer.',
  NotReported: 'Nothing has been found out yet.',
  InvalidSpec: 'The spec asks for something impossible: it is not tried again before it changes.',
} as const;

/** Every condition of the project: kind → type → row. A condition that is not here cannot be written. */
export const conditionTable = {
  TenantControlPlane: tenantControlPlaneConditions,
  DataStore: dataStoreConditions,
  KubeconfigGenerator: kubeconfigGeneratorConditions,
  StewardControlPlane: stewardControlPlaneConditions,
  ClusterStack: clusterStackConditions,
  ClusterStackRelease: clusterStackReleaseConditions,
  ClusterAddon: clusterAddonConditions,
} as const;

export type ConditionKind = keyof typeof conditionTable;

/** The condition types of a kind. */
export type ConditionTypeOf<K extends ConditionKind> = keyof (typeof conditionTable)[K] & string;

type RowReasons<Row> = Row extends { readonly reasons: infer R } ? keyof R & string : never;

/** The reasons that a condition may carry. */
export type ReasonOf<K extends ConditionKind, T extends ConditionTypeOf<K>> =
  RowReasons<(typeof conditionTable)[K][T]> | keyof typeof commonReasons;

/** A condition without the times, which are the runtime's matter. */
export interface StatedCondition<T extends string = string, R extends string = string> extends Pick<
  Condition,
  'status' | 'message'
> {
  readonly type: T;
  readonly reason: R;
}

/** A condition of a kind, checked against the table by the compiler. */
export function stateCondition<K extends ConditionKind, T extends ConditionTypeOf<K>>(
  _kind: K,
  condition: StatedCondition<T, ReasonOf<K, NoInfer<T>>>,
): StatedCondition<T, ReasonOf<K, T>> {
  return condition;
}

/** True when the table has this reason for this condition: for reasons that arrive as text, such as those of errors. */
export function isReasonOf<K extends ConditionKind, T extends ConditionTypeOf<K>>(
  kind: K,
  type: T,
  reason: string,
): reason is ReasonOf<K, T> {
  const rows: Readonly<Record<string, ConditionRow>> = conditionTable[kind];
  return reason in commonReasons || reason in (rows[type]?.reasons ?? {});
}
