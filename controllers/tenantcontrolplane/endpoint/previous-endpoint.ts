import type { Ingress } from '../../../api/core/kinds.ts';
import type { TlsRoute } from '../../../api/gateway-api/kinds.ts';
import type { Publication } from './exposure/exposure.ts';
import { ingressRules, traefikRules } from './exposure/router-rules.ts';
import type { TraefikRoute } from './exposure/router-rules.ts';
import type { Endpoint } from '../shared/control-plane-input.ts';
import type { Dependencies } from '../dependencies.ts';
import { needed } from '../scope.ts';
import type { Scope } from '../scope.ts';
import { serversOf } from '../shared/addon-server.ts';
import { routesOf } from './exposure/routes.ts';

/** True while workers and users know another endpoint than the wanted one. */
export function isOnTheWay({ target, endpoint }: Readonly<Scope>): boolean {
  const [next, inUse] = [needed(target, 'target'), needed(endpoint, 'endpoint')];
  return next.host !== inUse.host || next.hostPort !== inUse.hostPort;
}

/** The host names in a stored route, by the kind of exposure. */
const hostsOf: Readonly<Record<Publication['by'], (stored: object) => readonly string[]>> = {
  Ingress: (stored) => ingressRules(stored as Ingress).map(({ host }) => host),
  IngressRouteTCP: (stored) => traefikRules(stored as TraefikRoute).map(({ host }) => host),
  TLSRoute: (stored) => (stored as TlsRoute).spec?.hostnames ?? [],
};

/** All host names in the tenant's routes, including previous ones. */
export function ledHosts({ tcp }: Readonly<Scope>, deps: Pick<Dependencies, 'cached' | 'addons'>): readonly string[] {
  const { namespace, uid } = tcp.metadata;
  return routesOf(tcp, serversOf(deps.addons)).flatMap(({ by, among, name }) =>
    among.flatMap((kind) => {
      const stored = deps.cached(kind, { namespace, name });
      const isOurs = stored?.metadata.ownerReferences?.some((reference) => reference.uid === uid) === true;
      return stored !== undefined && isOurs ? hostsOf[by](stored) : [];
    }),
  );
}

/**
 * True when a router leads to an endpoint by its name. For the wanted endpoint the spec shows it; for a previous one the routes
 * do, which stay for as long as clients may use them.
 */
export function isLedByRouter(scope: Readonly<Scope>, endpoint: Endpoint, deps: Dependencies): boolean {
  const { ingress, gateway } = scope.tcp.spec.controlPlane;
  if (endpoint.host === needed(scope.target, 'target').host) return (ingress ?? gateway) !== undefined;
  return ledHosts(scope, deps).includes(endpoint.host);
}
