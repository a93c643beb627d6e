import type { Ingress } from '../../../api/core/kinds.ts';
import type { TlsRoute } from '../../../api/gateway-api/kinds.ts';
import type { Publication } from '../components/publication.ts';
import { ingressRules, traefikRules } from '../components/router-rules.ts';
import type { TraefikRoute } from '../components/router-rules.ts';
import type { Endpoint } from '../components/control-plane-input.ts';
import type { Dependencies } from '../dependencies.ts';
import { needed } from '../scope.ts';
import type { Scope } from '../scope.ts';
import { routesOf } from './routes.ts';

/** True while workers and users are told of another endpoint than the spec asks for. */
export function isOnTheWay({ target, endpoint }: Readonly<Scope>): boolean {
  const [next, inUse] = [needed(target, 'target'), needed(endpoint, 'endpoint')];
  return next.host !== inUse.host || next.hostPort !== inUse.hostPort;
}

/** The host names that a stored route leads, whatever makes it. */
const hostsOf: Readonly<Record<Publication['by'], (stored: object) => readonly string[]>> = {
  Ingress: (stored) => ingressRules(stored as Ingress).map(({ host }) => host),
  IngressRouteTCP: (stored) => traefikRules(stored as TraefikRoute).map(({ host }) => host),
  TLSRoute: (stored) => (stored as TlsRoute).spec?.hostnames ?? [],
};

/** All host names that routes of the tenant lead, also those that are given up. */
export function ledHosts({ tcp }: Readonly<Scope>, deps: Pick<Dependencies, 'cached'>): readonly string[] {
  const { namespace = '', uid } = tcp.metadata;
  return routesOf(tcp).flatMap(({ by, among, name }) =>
    among.flatMap((kind) => {
      const stored = deps.cached(kind, { namespace, name });
      const isOurs = stored?.metadata.ownerReferences?.some((reference) => reference.uid === uid) === true;
      return stored !== undefined && isOurs ? hostsOf[by](stored) : [];
    }),
  );
}

/**
 * True when a router leads to an endpoint by its name. Of the one that the spec asks for the spec tells; of one that is given up,
 * the routes, which stay for as long as anybody may come by them.
 */
export function isLedByRouter(scope: Readonly<Scope>, endpoint: Endpoint, deps: Dependencies): boolean {
  const { ingress, gateway } = scope.tcp.spec.controlPlane;
  if (endpoint.host === needed(scope.target, 'target').host) return (ingress ?? gateway) !== undefined;
  return ledHosts(scope, deps).includes(endpoint.host);
}
