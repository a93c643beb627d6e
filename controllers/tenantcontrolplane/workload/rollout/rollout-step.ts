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
} as const;

/** How soon a rollout is looked at again where no watch reports the next change, in milliseconds. */
const soonMs = 250;

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
  /** When to look again, in milliseconds; absent when a watch reports the next change. */
  readonly afterMs?: number;
}

/** What the next step depends on. */
export interface RolloutInput {
  readonly facts: RolloutFacts;
  /** Whether the Deployment keeps its old pods now, and for how many milliseconds it has done so. */
  readonly heldForMs?: number | undefined;
  /** For how many milliseconds the Service has led to the new pods; absent when it does not, or if this is not known. */
  readonly switchedForMs?: number | undefined;
}

const readyOf = (pods: readonly RolloutPod[]): number => pods.filter(({ ready }) => ready).length;

/**
 * The next step of a rollout in which no pod is replaced before all of its successors are ready: narrow the Service to the old pods,
 * wait for the new ones, switch, and only then let the old ones end. A Service is never narrowed to pods of which none is ready.
 */
export function rolloutStep({ facts, heldForMs, switchedForMs }: RolloutInput): RolloutStep {
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
  return beforeSwitch(recent, serving, heldForMs);
}

function beforeSwitch(recent: readonly RolloutPod[], serving: string | undefined, heldForMs: number): RolloutStep {
  const broken = recent.find((pod) => pod.broken !== undefined);
  const leftMs = (broken === undefined ? patience.slowMs : patience.brokenMs) - heldForMs;
  // Without old pods that are ready there is nothing to return to.
  if (serving === undefined) return { select: undefined, holds: true };
  if (leftMs > 0) return { select: serving, holds: true, afterMs: Math.min(leftMs, patience.brokenMs) };
  const returnsBecause =
    broken === undefined
      ? `the new pods were not ready after ${patience.slowMs / 60_000} minutes`
      : `pod ${broken.name}: ${broken.broken}`;
  return { select: serving, holds: true, returnsBecause };
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
  if (isThere && leftMs <= 0) return { select: newest, holds: false };
  return { select: newest, holds: true, afterMs: isThere ? leftMs : soonMs };
}

/** A Service that was narrowed is widened once no other pods are left that could answer. */
function settling(facts: RolloutFacts): string | undefined {
  const { selected, pods } = facts;
  return pods.some(({ hash }) => hash !== selected) ? readyWith(facts, selected) : undefined;
}
