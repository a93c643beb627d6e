import type { CoreTypes } from '../../../../api/core/core-schema.ts';
import { isSelected, selectorText } from '../../../../api/core/label-selector.ts';
import type { DataStore } from '../../../../api/steward/v1alpha1/data-store.ts';
import type { DataStoreToleration } from '../../../../api/steward/v1alpha1/data-store-placement.ts';
import { isolationRefusal } from './isolation-refusal.ts';
import { isFull, loadOf, loadText } from './load.ts';
import { namespaceRefusal } from './namespace-refusal.ts';
import type { Origin } from './namespace-refusal.ts';
import { reserveRefusal } from './reserve-refusal.ts';
import { intolerable, taintText } from './taints.ts';

/** What a tenant requires of its DataStore. */
export interface PlacementConstraints {
  readonly selector: CoreTypes['LabelSelector'] | undefined;
  /** What a drain requires of the DataStores to which it migrates tenants. */
  readonly targetSelector?: CoreTypes['LabelSelector'] | undefined;
  readonly tolerations: readonly DataStoreToleration[];
  readonly origin: Origin;
}

/** A DataStore that may be chosen. */
export interface Candidate {
  readonly store: DataStore;
  /** How many other tenants it holds or will hold. */
  readonly tenants: number;
  /** True when it cannot isolate tenants. */
  readonly servesOne?: boolean;
}

/** Everything that prevents placing a tenant in a DataStore; empty when it fits. */
export function refusals(
  candidate: Candidate,
  { selector, targetSelector, tolerations, origin }: PlacementConstraints,
): readonly string[] {
  const { store, tenants, servesOne = false } = candidate;
  const reasons: string[] = [];
  if (store.metadata.deletionTimestamp !== undefined) reasons.push('is being deleted');
  if (store.spec.drain !== undefined) reasons.push('is being drained');
  const refusal = namespaceRefusal(store, origin);
  if (refusal !== undefined) reasons.push(refusal);
  if (selector !== undefined && !isSelected(store.metadata.labels ?? {}, selector))
    reasons.push(`does not have the labels ${selectorText(selector)}`);
  if (targetSelector !== undefined && !isSelected(store.metadata.labels ?? {}, targetSelector))
    reasons.push(`does not have the labels ${selectorText(targetSelector)}, which the drain requires`);
  const taints = intolerable(store, tolerations).filter(({ effect }) => effect === 'NoPlacement');
  if (taints.length > 0) reasons.push(`has the taint ${taints.map(taintText).join(' and ')}, which is not tolerated`);
  const trouble = notReady(store);
  if (trouble !== undefined) reasons.push(trouble);
  const isolation = isolationRefusal(store);
  if (trouble === undefined && isolation !== undefined) reasons.push(isolation);
  const reserve = reserveRefusal(store);
  if (reserve !== undefined) reasons.push(reserve);
  const load = loadOf(store, tenants);
  if (isFull(load)) reasons.push(`is full: it ${loadText(load)}`);
  else if (servesOne && tenants > 0) reasons.push('serves only one tenant and already has one');
  return reasons;
}

/** Ready summarizes Reachable, Authorized and VersionSupported. A status about an older spec does not count. */
function notReady({ metadata, status }: DataStore): string | undefined {
  const ready = status?.conditions?.find(({ type }) => type === 'Ready');
  if (ready === undefined || (ready.observedGeneration ?? 0) < metadata.generation)
    return 'has not been checked since it was created or changed';
  return ready.status === 'True' ? undefined : `is not Ready: ${ready.message === '' ? ready.reason : ready.message}`;
}
