import type { DataStore } from '../../../../api/steward/v1alpha1/data-store.ts';
import { fullness, loadOf, loadText } from './load.ts';
import { refusals } from './refusals.ts';
import type { Candidate, PlacementConstraints } from './refusals.ts';
import { intolerable, taintText } from './taints.ts';

/** A DataStore that fits. */
export interface Fit {
  readonly name: string;
  readonly driver: string;
  /** At most 100; below 0 when a taint says that the datastore should be used only if nothing else fits. */
  readonly score: number;
  /** Why it has this score. */
  readonly reason: string;
  /** Bytes, if the datastore reports them. */
  readonly size?: number;
}

/** The result for every candidate. */
export interface Choice {
  /** The best first; empty when none fits. */
  readonly fits: readonly Fit[];
  /** In the order of their names. */
  readonly refused: readonly { readonly name: string; readonly reasons: readonly string[] }[];
}

/**
 * Chooses among DataStores: those that break a rule are left out; the emptiest of the others is the best, then the one with fewer
 * bytes, then the first by name. The score of a datastore depends only on itself, so that an additional datastore changes a
 * choice only if it is the better one.
 */
export function chooseDataStore(constraints: PlacementConstraints, candidates: readonly Candidate[]): Choice {
  const evaluated = candidates.map((candidate) => ({
    name: candidate.store.metadata.name,
    ...candidate,
    reasons: refusals(candidate, constraints),
  }));
  return {
    fits: evaluated
      .filter(({ reasons }) => reasons.length === 0)
      .map(({ store, tenants }) => fitOf(store, constraints, tenants))
      .sort((a, b) => b.score - a.score || bySize(a, b) || byName(a, b)),
    refused: evaluated
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

/**
 * 100 for an empty datastore, 50 for a full one, and a hundred less for each taint with the effect PreferNoPlacement: no load
 * outweighs it.
 */
function fitOf(store: DataStore, { tolerations }: PlacementConstraints, tenants: number): Fit {
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
  return { name: store.metadata.name, driver: store.spec.driver, score, reason: words.join(', '), size };
}
