import { gatewayGroup, gateway as gatewayKind } from '../../../../api/gateway-api/kinds.ts';
import type {
  Gateway,
  GatewayCondition,
  RouteParent,
  RouteParentStatus,
  TlsRoute,
} from '../../../../api/gateway-api/kinds.ts';
import type { Key } from '../../../../api/meta.ts';
import type { TenantControlPlane } from '../../../../api/steward/v1alpha1/tenant-control-plane.ts';
import { isSameParent } from './router-rules.ts';

/** A route with the Gateways that have accepted it. */
export interface RouteFacts {
  readonly tcp: TenantControlPlane;
  readonly route: TlsRoute;
  /** The host name that the route must serve. */
  readonly host: string;
  /** Name of the listener that the route wants. */
  readonly listener: string;
  /** By `namespace/name`; Gateways that do not exist are absent. */
  readonly gateways: ReadonlyMap<string, Gateway>;
}

/** Whether connections get through the route; if not, what is waited for. */
export type RouteVerdict =
  | { readonly leads: true; readonly message: string }
  | { readonly leads: false; readonly reason: 'RouteNotAccepted' | 'NotExposed'; readonly message: string };

const namespaceOf = ({ namespace }: RouteParent, { metadata }: TlsRoute | TenantControlPlane): string =>
  namespace ?? metadata.namespace;

const isGateway = ({ group = gatewayGroup, kind = gatewayKind.kind }: RouteParent): boolean =>
  group === gatewayGroup && kind === gatewayKind.kind;

const describe = (parent: RouteParent, route: TlsRoute | TenantControlPlane): string =>
  `${parent.kind ?? gatewayKind.kind} ${namespaceOf(parent, route)}/${parent.name}`;

/** The Gateways that expose a tenant. */
export function gatewayKeys(tcp: TenantControlPlane): readonly Required<Key>[] {
  const parents = tcp.spec.controlPlane.gateway?.parentRefs ?? [];
  return parents.filter(isGateway).map((parent) => ({ namespace: namespaceOf(parent, tcp), name: parent.name }));
}

/** The key of a Gateway in `RouteFacts`. */
export const gatewayName = ({ namespace, name }: Required<Key>): string => `${namespace}/${name}`;

/** Why a condition is not True for the current generation; undefined when it is. */
function flaw(conditions: readonly GatewayCondition[] | undefined, type: string, generation = 0): string | undefined {
  const found = conditions?.find((condition) => condition.type === type);
  if (found === undefined || (found.observedGeneration ?? generation) < generation) return 'not reported yet';
  if (found.status === 'True') return undefined;
  return [found.reason, found.message].filter((part) => part !== undefined && part !== '').join(': ');
}

/** Why a parent does not route connections to the tenant; undefined when it does. */
function refusal({ conditions }: RouteParentStatus, { metadata }: TlsRoute): string | undefined {
  const { generation } = metadata;
  const unresolved = conditions?.some(({ type }) => type === 'ResolvedRefs') === true;
  return (
    flaw(conditions, 'Accepted', generation) ?? (unresolved ? flaw(conditions, 'ResolvedRefs', generation) : undefined)
  );
}

/** The status from the wanted Gateways; a route may still have others, which served it before. */
function asked({ tcp, route }: RouteFacts): readonly RouteParentStatus[] {
  const wanted = tcp.spec.controlPlane.gateway?.parentRefs ?? [];
  const { namespace } = tcp.metadata;
  return (route.status?.parents ?? []).filter(({ parentRef }) =>
    wanted.some((parent) => isSameParent(parent, parentRef, namespace)),
  );
}

function accepting(facts: RouteFacts): readonly RouteParentStatus[] {
  return asked(facts).filter((parent) => refusal(parent, facts.route) === undefined);
}

/** Whether a listener accepts connections for the name: `*` stands for one label or more. */
const takes = (hostname: string, host: string): boolean =>
  hostname === '' || hostname === host || (hostname.startsWith('*.') && host.endsWith(hostname.slice(1)));

/**
 * Why a Gateway does not serve the name although it has accepted the route: a route with a former host name, too, is accepted if
 * either name matches. Undefined when nothing is wrong.
 */
function unnamed(listens: Gateway, { host, listener }: RouteFacts): string | undefined {
  const found = listens.spec?.listeners?.find(({ name }) => name === listener);
  if (found === undefined || takes(found.hostname ?? '', host)) return undefined;
  return `does not route here: its listener ${listener} accepts ${found.hostname ?? ''}, not ${host}`;
}

/** Why a Gateway that has accepted the route does not listen; undefined when it does. */
function unprogrammed({ parentRef }: RouteParentStatus, facts: RouteFacts): string | undefined {
  const { route, gateways } = facts;
  if (!isGateway(parentRef)) return undefined;
  const found = gateways.get(gatewayName({ namespace: namespaceOf(parentRef, route), name: parentRef.name }));
  if (found === undefined) return 'is not programmed: it no longer exists';
  const why = flaw(found.status?.conditions, 'Programmed', found.metadata.generation);
  return unnamed(found, facts) ?? (why === undefined ? undefined : `is not programmed: ${why}`);
}

/** Whether the route works: one Gateway that has accepted it and listens is enough. */
export function routeVerdict(facts: RouteFacts): RouteVerdict {
  const { tcp, route } = facts;
  const parents = asked(facts);
  const accepted = accepting(facts);
  if (accepted.length === 0) {
    const refusals = parents.map((parent) => `${describe(parent.parentRef, route)}: ${refusal(parent, route) ?? ''}`);
    const wanted = (tcp.spec.controlPlane.gateway?.parentRefs ?? []).map((parent) => describe(parent, tcp));
    const message =
      parents.length > 0
        ? `TLSRoute ${route.metadata.name} is not accepted: ${refusals.join('; ')}`
        : `no controller has responded to TLSRoute ${route.metadata.name}: ${wanted.join(', ')} must exist, with a TLS listener ${facts.listener} in mode Passthrough on the port that the route names`;
    return { leads: false, reason: 'RouteNotAccepted', message };
  }
  const silent = accepted.map((parent) => [parent, unprogrammed(parent, facts)] as const);
  const flaws = silent.flatMap(([{ parentRef }, why]) =>
    why === undefined ? [] : [`${describe(parentRef, route)} ${why}`],
  );
  if (flaws.length === accepted.length) return { leads: false, reason: 'NotExposed', message: flaws.join('; ') };
  return { leads: true, message: flaws.join('; ') };
}

/** An address at which the route can be reached, for the status. */
export interface AccessPoint {
  readonly type: 'Hostname';
  readonly value: string;
  readonly port: number;
}

/** The addresses at which the route can be reached: one for each listening Gateway that has accepted it. */
export function accessPoints(
  facts: RouteFacts,
  endpoint: { readonly host: string; readonly port: number },
): readonly AccessPoint[] {
  const { host, port } = endpoint;
  return accepting(facts)
    .filter((parent) => unprogrammed(parent, facts) === undefined)
    .map(({ parentRef }) => ({
      type: 'Hostname',
      value: `https://${host}:${parentRef.port ?? port}`,
      port: parentRef.port ?? port,
    }));
}
