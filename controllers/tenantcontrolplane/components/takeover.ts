import type { Ingress } from '../../../api/core/kinds.ts';
import type { Resource } from '../../../api/meta.ts';
import type { RouteVerdict } from './route-verdict.ts';

/** Whether a route may take the place of the way by which workers and users came until now. */
export type Takeover =
  | { readonly is: true }
  | {
      readonly is: false;
      /** What is waited for. */
      readonly until: string;
      /** When to look again, in milliseconds, where no event tells. */
      readonly afterMs?: number;
    };

/** How long a controller that tells nothing has had for a new route before that counts as served, in milliseconds. */
export const silentControllerMs = 60_000;

/** What nobody has to accept. */
export const taken: Takeover = { is: true };

function afterAWhile(route: Resource, now: Date, until: string): Takeover {
  const made = Date.parse(route.metadata.creationTimestamp ?? now.toISOString());
  const leftMs = made + silentControllerMs - now.getTime();
  return leftMs <= 0 ? taken : { is: false, until, afterMs: leftMs };
}

/**
 * Controllers of Ingresses write an address when they have taken one over, but not all do: an Ingress that has been there for a
 * minute counts without.
 */
export function ingressTakeover(made: Ingress, now: Date): Takeover {
  if ((made.status?.loadBalancer?.ingress ?? []).length > 0) return taken;
  return afterAWhile(
    made,
    now,
    `Ingress ${made.metadata.name ?? ''} carries an address or has been there for a minute`,
  );
}

/** Traefik says nothing of its routes. */
export function traefikTakeover(made: Resource, now: Date): Takeover {
  return afterAWhile(made, now, `IngressRouteTCP ${made.metadata.name ?? ''} has been there for a minute`);
}

/** Gateways say what they accept. With an agents' route both must lead: all that dial follow together. */
export function gatewayTakeover(...verdicts: readonly RouteVerdict[]): Takeover {
  const missing = verdicts.flatMap((verdict) => (verdict.leads ? [] : [verdict.message]));
  return missing.length === 0 ? taken : { is: false, until: `a Gateway serves it: ${missing.join('; ')}` };
}
