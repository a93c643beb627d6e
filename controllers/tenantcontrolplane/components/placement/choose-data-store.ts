import type { DataStore } from '../../../../api/steward/v1alpha1/data-store.ts';
import { fullness, loadOf, loadText } from './load.ts';
import { refusals } from './refusals.ts';
import type { Wishes } from './refusals.ts';
import { intolerable, taintText } from './taints.ts';

/** A DataStore that may be chosen, and how many other tenants are in it or about to be. */
export interface Candidate {
  readonly store: DataStore;
  readonly tenants: number;
}

/** A DataStore that fits. */
export interface Fit {
  readonly name: string;
  /** 100 at best; below 0 when a taint says that the store is to be taken only where nothing else fits. */
  readonly score: number;
  /** Why it has this score. */
  readonly reason: string;
  /** Bytes, where the store can tell. */
  readonly size?: number;
}

/** What every candidate came to. */
export interface Choice {
  /** The best first; empty when none fits. */
  readonly fits: readonly Fit[];
  /** In the order of their names. */
  readonly refused: readonly { readonly name: string; readonly reasons: readonly string[] }[];
}

/**
 * Chooses among DataStores: those that a rule forbids are left out; of the others the emptiest is the best, of two that are
 * alike the one with fewer bytes, and then the one whose name comes first. The score of a store depends on nothing but itself, so that one more store changes a
 * choice only by being the better one.
 */
export function chooseDataStore(wishes: Wishes, candidates: readonly Candidate[]): Choice {
  const judged = candidates.map(({ store, tenants }) => ({
    name: store.metadata.name ?? '',
    store,
    tenants,
    reasons: refusals(store, wishes, tenants),
  }));
  return {
    fits: judged
      .filter(({ reasons }) => reasons.length === 0)
      .map(({ store, tenants }) => fitOf(store, wishes, tenants))
      .sort((a, b) => b.score - a.score || bySize(a, b) || byName(a, b)),
    refused: judged
      .filter(({ reasons }) => reasons.length > 0)
      .map(({ name, reasons }) => ({ name, reasons }))
      .sort(byName),
  };
}

function bySize({ size: a = Infinity }: Fit, { size: b = Infinity }: Fit): number {
  return a < b ? -1 : Number(a > b);
}

function byName(a: { readonly name: string }, b: { readonly name: string }): number {
  return a.name < b.name ? -1 : Number(a.name > b.name);
}

/** 100 for an empty store, 50 for a full one, and a hundred less for each taint that asks to be avoided: no load outweighs it. */
function fitOf(store: DataStore, { tolerations }: Wishes, tenants: number): Fit {
  const load = loadOf(store, tenants);
  const { weight = 1 } = store.spec.placement ?? {};
  const taints = intolerable(store, tolerations);
  const score = 100 / (1 + fullness(load) / weight) - 100 * taints.length;
  const words = [
    loadText(load),
    ...(weight === 1 ? [] : [`has weight ${weight}`]),
    ...(taints.length === 0 ? [] : [`has the taint ${taints.map(taintText).join(' and ')}`]),
  ];
  const { size } = load;
  return { name: store.metadata.name ?? '', score, reason: words.join(', '), ...(size !== undefined && { size }) };
}
