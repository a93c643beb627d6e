import { gatewayGroup, gateway as gatewayKind } from '../../../api/gateway-api/kinds.ts';
import type {
  Gateway,
  GatewayCondition,
  RouteParent,
  RouteParentStatus,
  TlsRoute,
} from '../../../api/gateway-api/kinds.ts';
import type { Key } from '../../../api/meta.ts';
import type { TenantControlPlane } from '../../../api/steward/v1alpha1/tenant-control-plane.ts';
import { isSameParent } from './router-rules.ts';

/** A route with the Gateways that have accepted it. */
export interface RouteFacts {
  readonly tcp: TenantControlPlane;
  readonly route: TlsRoute;
  /** The host name that the route is to lead. */
  readonly host: string;
  /** Name of the listener that the route wants. */
  readonly listener: string;
  /** By `namespace/name`; one that does not exist is not there. */
  readonly gateways: ReadonlyMap<string, Gateway>;
}

/** Whether connections get through the route; where they do not, what is waited for. */
export type RouteVerdict =
  | { readonly leads: true; readonly message: string }
  | { readonly leads: false; readonly reason: 'RouteNotAccepted' | 'NotExposed'; readonly message: string };

const namespaceOf = ({ namespace }: RouteParent, { metadata }: TlsRoute | TenantControlPlane): string =>
  namespace ?? metadata.namespace ?? '';

const isGateway = ({ group = gatewayGroup, kind = gatewayKind.kind }: RouteParent): boolean =>
  group === gatewayGroup && kind === gatewayKind.kind;

const describe = (parent: RouteParent, route: TlsRoute | TenantControlPlane): string =>
  `${parent.kind ?? gatewayKind.kind} ${namespaceOf(parent, route)}/${parent.name}`;

/** The Gateways that a tenant wants to be published by. */
export function gatewayKeys(tcp: TenantControlPlane): readonly Required<Key>[] {
  const parents = tcp.spec.controlPlane.gateway?.parentRefs ?? [];
  return parents.filter(isGateway).map((parent) => ({ namespace: namespaceOf(parent, tcp), name: parent.name }));
}

/** The name that a Gateway goes by in `RouteFacts`. */
export const gatewayName = ({ namespace, name }: Required<Key>): string => `${namespace}/${name}`;

/** What keeps a condition from being True for the present generation; undefined when nothing does. */
function flaw(conditions: readonly GatewayCondition[] | undefined, type: string, generation = 0): string | undefined {
  const found = conditions?.find((condition) => condition.type === type);
  if (found === undefined || (found.observedGeneration ?? generation) < generation) return 'no word yet';
  if (found.status === 'True') return undefined;
  return [found.reason, found.message].filter((part) => part !== undefined && part !== '').join(': ');
}

/** Why a parent does not pass connections on to the tenant; undefined when it does. */
function refusal({ conditions }: RouteParentStatus, { metadata }: TlsRoute): string | undefined {
  const { generation } = metadata;
  const unresolved = conditions?.some(({ type }) => type === 'ResolvedRefs') === true;
  return (
    flaw(conditions, 'Accepted', generation) ?? (unresolved ? flaw(conditions, 'ResolvedRefs', generation) : undefined)
  );
}

/** What the Gateways that are asked for say; a route may still have others, which served it before. */
function asked({ tcp, route }: RouteFacts): readonly RouteParentStatus[] {
  const wanted = tcp.spec.controlPlane.gateway?.parentRefs ?? [];
  const { namespace = '' } = tcp.metadata;
  return (route.status?.parents ?? []).filter(({ parentRef }) =>
    wanted.some((parent) => isSameParent(parent, parentRef, namespace)),
  );
}

function accepting(facts: RouteFacts): readonly RouteParentStatus[] {
  return asked(facts).filter((parent) => refusal(parent, facts.route) === undefined);
}

/** Whether a listener takes connections for the name: `*` stands for one part or more. */
const takes = (hostname: string, host: string): boolean =>
  hostname === '' || hostname === host || (hostname.startsWith('*.') && host.endsWith(hostname.slice(1)));

/**
 * Why a Gateway does not lead the name although it has accepted the route: one that has a former host name too is accepted for
 * the sake of either. Undefined when nothing speaks against it.
 */
function unnamed(listens: Gateway, { host, listener }: RouteFacts): string | undefined {
  const found = listens.spec?.listeners?.find(({ name }) => name === listener);
  if (found === undefined || takes(found.hostname ?? '', host)) return undefined;
  return `does not lead here: its listener ${listener} takes ${found.hostname ?? ''}, not ${host}`;
}

/** Why a Gateway that has accepted the route has no place where it listens; undefined when it has. */
function unprogrammed({ parentRef }: RouteParentStatus, facts: RouteFacts): string | undefined {
  const { route, gateways } = facts;
  if (!isGateway(parentRef)) return undefined;
  const found = gateways.get(gatewayName({ namespace: namespaceOf(parentRef, route), name: parentRef.name }));
  if (found === undefined) return 'is not programmed: it does not exist any more';
  const why = flaw(found.status?.conditions, 'Programmed', found.metadata.generation);
  return unnamed(found, facts) ?? (why === undefined ? undefined : `is not programmed: ${why}`);
}

/** Whether the route leads anywhere: one Gateway that has accepted it and listens is enough. */
export function routeVerdict(facts: RouteFacts): RouteVerdict {
  const { tcp, route } = facts;
  const parents = asked(facts);
  const accepted = accepting(facts);
  if (accepted.length === 0) {
    const said = parents.map((parent) => `${describe(parent.parentRef, route)}: ${refusal(parent, route) ?? ''}`);
    const wanted = (tcp.spec.controlPlane.gateway?.parentRefs ?? []).map((parent) => describe(parent, tcp));
    const message =
      parents.length > 0
        ? `TLSRoute ${route.metadata.name ?? ''} is not accepted: ${said.join('; ')}`
        : `no controller has answered to TLSRoute ${route.metadata.name ?? ''}: ${wanted.join(', ')} must exist, with a TLS listener ${facts.listener} in mode Passthrough on the port that the route names`;
    return { leads: false, reason: 'RouteNotAccepted', message };
  }
  const silent = accepted.map((parent) => [parent, unprogrammed(parent, facts)] as const);
  const flaws = silent.flatMap(([{ parentRef }, why]) =>
    why === undefined ? [] : [`${describe(parentRef, route)} ${why}`],
  );
  if (flaws.length === accepted.length) return { leads: false, reason: 'NotExposed', message: flaws.join('; ') };
  return { leads: true, message: flaws.join('; ') };
}

/** A place where the route can be reached, as the status tells. */
export interface AccessPoint {
  readonly type: 'Hostname';
  readonly value: string;
  readonly port: number;
}

/** The places where the route can be reached: one for each listening Gateway that has accepted it. */
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
