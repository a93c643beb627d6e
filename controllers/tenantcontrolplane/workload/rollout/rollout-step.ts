import { readyWith, servingHash } from './rollout-facts.ts';
import type { RolloutFacts, RolloutPod } from './rollout-facts.ts';

/** How long a rollout takes at most, in milliseconds. */
export const patience = {
  /** New pods that report an error: a registry that does not answer for a moment is no reason to return. */
  brokenMs: 45_000,
  /** New pods that do not become ready, for whatever reason: the deadline of a Deployment. */
  slowMs: 600_000,
  /** For this long after the switch, the old pods are kept in case the new ones fail under load. */
  observedMs: 1_000,
  /** The Service's slices name new pods alone after this time at the latest. */
  slicesMs: 60_000,
} as const;

/** How soon a rollout is checked again where no watch reports the next change, in milliseconds. */
const soonMs = 250;

/** How often pods that are not ready are checked, in milliseconds: no watch reports their errors. */
const lookMs = 5_000;

/** What a rollout does next. */
export interface RolloutStep {
  /** The hash of the pods to which the Service is narrowed; absent: all pods. */
  readonly select?: string | undefined;
  /** The hash of new pods that are ready: the Service may be switched to them. */
  readonly switchTo?: string;
  /** Whether the Deployment keeps its old pods. */
  readonly holds: boolean;
  /** Why the Deployment returns to the pods that `select` names; absent when it does not. */
  readonly returnsBecause?: string;
  /** When to check again, in milliseconds; absent when a watch reports the next change. */
  readonly afterMs?: number;
  /** True while the pods are checked repeatedly, for ten minutes at most: that counts as progress. */
  readonly looks?: boolean;
}

/** What the next step depends on. */
export interface RolloutInput {
  readonly facts: RolloutFacts;
  /** Whether the Deployment keeps its old pods now, and for how many milliseconds it has done so. */
  readonly heldForMs?: number | undefined;
  /** For how many milliseconds new pods have reported an error; absent when none does, or if this is not known. */
  readonly brokenForMs?: number | undefined;
  /** For how many milliseconds the Service has led to the new pods; absent when it does not, or if this is not known. */
  readonly switchedForMs?: number | undefined;
}

const readyOf = (pods: readonly RolloutPod[]): number => pods.filter(({ ready }) => ready).length;

/**
 * The next step of a rollout in which no pod is replaced before all of its successors are ready: narrow the Service to the old pods,
 * wait for the new ones, switch, and only then let the old ones end. A Service is never narrowed to pods of which none is ready.
 */
export function rolloutStep({ facts, heldForMs, brokenForMs = 0, switchedForMs }: RolloutInput): RolloutStep {
  const { newest, selected, pods } = facts;
  if (heldForMs === undefined) return { select: settling(facts), holds: false };
  const [recent, old] = [pods.filter(({ hash }) => hash === newest), pods.filter(({ hash }) => hash !== newest)];
  const serving = servingHash({ pods: old, selected });
  // The Deployment controller has not seen the last change yet.
  if (newest === undefined) return { select: serving, holds: true, afterMs: soonMs };
  // Nothing is left to keep.
  if (old.length === 0 || facts.wanted === 0) return { select: undefined, holds: false };
  if (selected === newest) return afterSwitch({ facts, recent, serving, switchedForMs });
  // New pods are better than none.
  if (serving === undefined && readyOf(recent) > 0) return { select: newest, holds: true, afterMs: soonMs };
  if (readyOf(recent) >= facts.wanted) return { select: serving, switchTo: newest, holds: true, afterMs: soonMs };
  return beforeSwitch({ recent, serving, heldForMs, brokenForMs });
}

function beforeSwitch({
  recent,
  serving,
  heldForMs,
  brokenForMs,
}: {
  readonly recent: readonly RolloutPod[];
  readonly serving: string | undefined;
  readonly heldForMs: number;
  readonly brokenForMs: number;
}): RolloutStep {
  // Without old pods that are ready there is nothing to return to.
  if (serving === undefined) return { select: undefined, holds: true };
  const wait = { select: serving, holds: true } as const;
  const broken = recent.find((pod) => pod.broken !== undefined);
  const leftMs = patience.slowMs - heldForMs;
  if (broken !== undefined) {
    const stillMs = Math.min(patience.brokenMs - brokenForMs, leftMs);
    return stillMs > 0
      ? { ...wait, afterMs: Math.min(stillMs, lookMs), looks: true }
      : { ...wait, returnsBecause: `pod ${broken.name}: ${broken.broken}` };
  }
  if (leftMs > 0) return { ...wait, afterMs: Math.min(leftMs, lookMs), looks: true };
  // There may be room for some pods only until the old ones are gone.
  const [some] = recent.filter(({ ready }) => ready);
  if (some !== undefined) return { ...wait, switchTo: some.hash, afterMs: soonMs };
  return { ...wait, returnsBecause: `the new pods were not ready after ${patience.slowMs / 60_000} minutes` };
}

function afterSwitch({
  facts,
  recent,
  serving,
  switchedForMs = 0,
}: {
  readonly facts: RolloutFacts;
  readonly recent: readonly RolloutPod[];
  readonly serving: string | undefined;
  readonly switchedForMs?: number | undefined;
}): RolloutStep {
  const { newest, reached } = facts;
  if (readyOf(recent) === 0) {
    if (serving === undefined) return { select: undefined, holds: true };
    return {
      select: serving,
      holds: true,
      returnsBecause: 'the new pods stopped being ready when they got connections',
    };
  }
  const names = new Set(recent.map(({ name }) => name));
  const isThere = reached.size > 0 && [...reached].every((name) => names.has(name));
  const leftMs = patience.observedMs - switchedForMs;
  // EndpointSlices that were created by hand do not keep the old pods.
  if ((isThere && leftMs <= 0) || switchedForMs >= patience.slicesMs) return { select: newest, holds: false };
  return { select: newest, holds: true, afterMs: isThere ? leftMs : soonMs };
}

/** A Service that was narrowed is widened once no other pods are left that could answer. */
function settling(facts: RolloutFacts): string | undefined {
  const { newest, selected, pods } = facts;
  // Its pods are about to be replaced, and no clients have to be switched.
  if (newest !== undefined && selected !== newest) return undefined;
  return pods.some(({ hash }) => hash !== selected) ? readyWith(facts, selected) : undefined;
}
