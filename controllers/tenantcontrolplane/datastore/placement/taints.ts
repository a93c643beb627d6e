import type { DataStore } from '../../../../api/steward/v1alpha1/data-store.ts';
import type { DataStoreTaint, DataStoreToleration } from '../../../../api/steward/v1alpha1/data-store-placement.ts';

/** The taints of a DataStore that a tenant does not tolerate. */
export function intolerable(store: DataStore, tolerations: readonly DataStoreToleration[]): readonly DataStoreTaint[] {
  const taints = store.spec.placement?.taints ?? [];
  return taints.filter((taint) => !tolerations.some((toleration) => tolerates(toleration, taint)));
}

/** `key=value:effect`, or `key:effect` without a value: as `kubectl taint` writes taints of nodes. */
export function taintText({ key, value = '', effect }: DataStoreTaint): string {
  return `${key}${value === '' ? '' : `=${value}`}:${effect}`;
}

/** As for nodes (https://kubernetes.io/docs/concepts/scheduling-eviction/taint-and-toleration/). */
function tolerates({ key = '', operator, value = '', effect }: DataStoreToleration, taint: DataStoreTaint): boolean {
  if (effect !== undefined && effect !== taint.effect) return false;
  if (key !== '' && key !== taint.key) return false;
  if (operator === 'Exists') return value === '';
  return key !== '' && value === (taint.value ?? '');
}
