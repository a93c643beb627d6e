import type { CoreTypes } from '../../../../api/core/core-schema.ts';
import { isSelected, selectorText } from '../../../../api/core/label-selector.ts';
import type { DataStore } from '../../../../api/steward/v1alpha1/data-store.ts';
import type { DataStoreToleration } from '../../../../api/steward/v1alpha1/data-store-placement.ts';
import { servesOneTenant } from '../../../../api/steward/v1alpha1/data-stores-of.ts';
import { isFull, loadOf, loadText } from './load.ts';
import { namespaceRefusal } from './namespace-refusal.ts';
import type { Origin } from './namespace-refusal.ts';
import { intolerable, taintText } from './taints.ts';

/** What a tenant asks of the DataStore that is chosen for it. */
export interface Wishes {
  readonly selector: CoreTypes['LabelSelector'] | undefined;
  readonly tolerations: readonly DataStoreToleration[];
  readonly origin: Origin;
}

/** Everything that keeps a tenant from being placed in a DataStore that `tenants` others are in; none when it fits. */
export function refusals(
  store: DataStore,
  { selector, tolerations, origin }: Wishes,
  tenants: number,
): readonly string[] {
  const reasons: string[] = [];
  if (store.metadata.deletionTimestamp !== undefined) reasons.push('is being deleted');
  const refusal = namespaceRefusal(store, origin);
  if (refusal !== undefined) reasons.push(refusal);
  if (selector !== undefined && !isSelected(store.metadata.labels ?? {}, selector))
    reasons.push(`has not the labels ${selectorText(selector)}`);
  const taints = intolerable(store, tolerations).filter(({ effect }) => effect === 'NoPlacement');
  if (taints.length > 0) reasons.push(`has the taint ${taints.map(taintText).join(' and ')}, which is not tolerated`);
  const trouble = notReady(store);
  if (trouble !== undefined) reasons.push(trouble);
  const load = loadOf(store, tenants);
  if (isFull(load)) reasons.push(`is full: it ${loadText(load)}`);
  else if (servesOneTenant(store.spec) && tenants > 0) reasons.push('serves one tenant only and has it');
  return reasons;
}

/** Ready stands for Reachable, Authorized and VersionSupported. What is known of an older spec says nothing. */
function notReady({ metadata, status }: DataStore): string | undefined {
  const ready = status?.conditions?.find(({ type }) => type === 'Ready');
  if (ready === undefined || (ready.observedGeneration ?? 0) < (metadata.generation ?? 0))
    return 'has not been looked at since it was made or changed';
  return ready.status === 'True' ? undefined : `is not Ready: ${ready.message === '' ? ready.reason : ready.message}`;
}
