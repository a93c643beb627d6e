import type { Ingress } from '../../../../api/core/kinds.ts';
import type { Resource } from '../../../../api/meta.ts';
import type { RouteVerdict } from './route-status.ts';

/** Whether a route may replace the previous exposure that workers and users have used so far. */
export type Takeover =
  | { readonly is: true }
  | {
      readonly is: false;
      /** What is waited for. */
      readonly until: string;
      /** When to check again, in milliseconds, if no watch reports it. */
      readonly afterMs?: number;
    };

/** After this many milliseconds, a new route counts as served if its controller reports no status. */
export const silentControllerMs = 60_000;

/** The verdict when there is nothing left to accept. */
export const taken: Takeover = { is: true };

function afterAWhile(route: Resource, now: Date, until: string): Takeover {
  const made = Date.parse(route.metadata.creationTimestamp ?? now.toISOString());
  const leftMs = made + silentControllerMs - now.getTime();
  return leftMs <= 0 ? taken : { is: false, until, afterMs: leftMs };
}

/**
 * Controllers of Ingresses usually write an address when they serve one, but not all do: an Ingress that has existed for a minute
 * counts without an address.
 */
export function ingressTakeover(made: Ingress, now: Date): Takeover {
  if ((made.status?.loadBalancer?.ingress ?? []).length > 0) return taken;
  return afterAWhile(made, now, `Ingress ${made.metadata.name} has an address or has existed for a minute`);
}

/** Traefik's routes have no status. */
export function traefikTakeover(made: Resource, now: Date): Takeover {
  return afterAWhile(made, now, `IngressRouteTCP ${made.metadata.name} has existed for a minute`);
}

/** Gateways report what they accept. With an agents' route, both routes must work: all clients switch together. */
export function gatewayTakeover(...verdicts: readonly RouteVerdict[]): Takeover {
  const missing = verdicts.flatMap((verdict) => (verdict.leads ? [] : [verdict.message]));
  return missing.length === 0 ? taken : { is: false, until: `a Gateway serves it: ${missing.join('; ')}` };
}
