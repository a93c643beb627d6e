import type { Ingress } from '../../../../api/core/kinds.ts';
import { kinds } from '../../../../api/core/kinds.ts';
import { gateway, gatewayGroup, tlsRoutes as routeKinds } from '../../../../api/gateway-api/kinds.ts';
import type { Gateway, TlsRoute } from '../../../../api/gateway-api/kinds.ts';
import type { KindRef, Manifest, Resource } from '../../../../api/meta.ts';
import { tenantObjects } from '../../../../api/names.ts';
import { ingressRouteTcp as traefikKind } from '../../../../api/traefik/kinds.ts';
import { joinHostPort } from '../../../../kubeadm/networks.ts';
import type { Context } from '../../../../runtime/reconcile/controller.ts';
import { ApiError } from '../../../../runtime/client/errors.ts';
import { ingress, ingressRouteTcp, serverRouteTcp } from './ingress.ts';
import { apiServerListener, hostRules } from './exposure.ts';
import type { HostRule, Publication, PublishedPorts } from './exposure.ts';
import { gatewayStatus, ingressStatus } from './exposure-status.ts';
import { gatewayKeys, gatewayName, routeVerdict } from './route-status.ts';
import type { RouteFacts } from './route-status.ts';
import { formerRoute, formerRules, ingressRules, traefikRules } from './router-rules.ts';
import type { FormerRoute, TraefikRoute } from './router-rules.ts';
import { gatewayTakeover, ingressTakeover, traefikTakeover } from './route-switch.ts';
import { tlsRoutes } from './tls-routes.ts';
import type { Dependencies } from '../../dependencies.ts';
import { needed } from '../../scope.ts';
import type { PublicationFacts, Scope } from '../../scope.ts';
import { serverHost } from '../../shared/addon-server.ts';

/** The inputs and dependencies of routes. */
export interface Making {
  readonly scope: Readonly<Scope>;
  readonly publication: Publication;
  readonly ports: PublishedPorts;
  /** True while routes keep their previous rules: workers and users may still use them. */
  readonly keepsFormer: boolean;
  readonly deps: Dependencies;
  readonly ctx: Context;
}

/** True when the API server does not know the kind at all; for a missing object, the message would name it. */
function isUnknownKind(error: unknown): boolean {
  return error instanceof ApiError && error.code === 404 && !error.message.endsWith('" not found');
}

/** The result of the work, or undefined when the cluster does not serve the kind. */
async function whereServed<T>(kind: KindRef, deps: Dependencies, work: () => Promise<T>): Promise<T | undefined> {
  if (!deps.isServed(kind)) return undefined;
  try {
    return await work();
  } catch (error) {
    if (isUnknownKind(error)) return undefined;
    throw error;
  }
}

function notServed(message: string): PublicationFacts {
  return {
    made: undefined,
    status: {},
    verdict: { leads: false, reason: 'KindNotInstalled', message },
    takeover: { is: false, until: message },
    hasFormer: false,
  };
}

/** True while the endpoint in the spec is not the one that workers and users know. */
function isElsewhere({ scope: { tcp, target } }: Making): boolean {
  const { host, hostPort } = needed(target, 'target');
  const recorded = tcp.status?.controlPlaneEndpoint ?? '';
  return recorded !== '' && recorded !== joinHostPort(host, hostPort);
}

/**
 * A stored route, if it may have rules that are no longer wanted. Usually a watch reports it; while the endpoint changes, it is
 * read from the API server, since a missed rule would be lost.
 */
async function stored<T extends Resource>(
  kind: KindRef<T>,
  name: string,
  making: Making,
  hasFormer: (found: T) => boolean,
): Promise<T | undefined> {
  if (!making.keepsFormer) return undefined;
  const { scope, deps, ctx } = making;
  const key = { namespace: scope.tcp.metadata.namespace, name };
  const seen = deps.cached(kind, key) as T | undefined;
  if (!isElsewhere(making) && (seen === undefined || !hasFormer(seen))) return undefined;
  const found = await deps.cluster.get(kind, key, { signal: ctx.signal });
  const isOurs = found?.metadata.ownerReferences?.some(({ uid }) => uid === scope.tcp.metadata.uid) === true;
  return found !== undefined && isOurs && hasFormer(found) ? found : undefined;
}

/** The ports to which rules of a router with one port for everything may lead. */
function sharedPorts({ apiServer, servers }: PublishedPorts): readonly number[] {
  return [apiServer, ...servers.flatMap(({ server, port }) => (server.hostname === undefined ? [] : [port]))];
}

async function makeIngress(making: Making): Promise<PublicationFacts> {
  const { scope, publication, ports, deps, ctx } = making;
  const wanted = hostRules(publication, ports);
  const alive = sharedPorts(ports);
  const formerOf = (found: Ingress): ReturnType<typeof formerRules> => formerRules(ingressRules(found), wanted, alive);
  const { ingress: name } = tenantObjects(scope.tcp.metadata.name);
  const before = await stored<Ingress>(kinds.Ingress, name, making, (found) => formerOf(found).length > 0);
  const former = before === undefined ? [] : formerOf(before);
  const made = await deps.apply<Ingress>(scope, ingress(scope.tcp, publication, { ports, former }), ctx);
  const hasAddress = (made.status?.loadBalancer?.ingress ?? []).length > 0;
  const message = `Ingress ${name} has no address yet; not every controller sets one`;
  return {
    made: [name],
    status: ingressStatus(scope.tcp, made),
    verdict: { leads: true, message: hasAddress ? '' : message },
    takeover: ingressTakeover(made, ctx.now),
    hasFormer: former.length > 0,
  };
}

interface AppliedRoute {
  readonly made: Resource;
  /** True while it has rules that the spec no longer requires. */
  readonly hasFormer: boolean;
}

/** One of Traefik's routes, with the previous rules that stay for now. */
async function applyTraefikRoute(
  making: Making,
  route: {
    readonly name: string;
    readonly wanted: readonly HostRule[];
    readonly alive: readonly number[];
    readonly manifest: (former: readonly HostRule[]) => Manifest;
  },
): Promise<AppliedRoute> {
  const formerOf = (found: TraefikRoute): readonly HostRule[] =>
    formerRules(traefikRules(found), route.wanted, route.alive);
  const before = await stored<TraefikRoute>(traefikKind, route.name, making, (found) => formerOf(found).length > 0);
  const former = before === undefined ? [] : formerOf(before);
  const made = await making.deps.apply(making.scope, route.manifest(former), making.ctx);
  return { made, hasFormer: former.length > 0 };
}

/** The route of the API server comes first. */
async function applyTraefikRoutes(making: Making): Promise<readonly [AppliedRoute, ...AppliedRoute[]]> {
  const { scope, publication, ports } = making;
  const { tcp } = scope;
  const names = tenantObjects(tcp.metadata.name);
  const own = await applyTraefikRoute(making, {
    name: names.ingress,
    wanted: hostRules(publication, ports),
    alive: sharedPorts(ports),
    manifest: (former) => ingressRouteTcp(tcp, publication, { ports, former }),
  });
  const others: AppliedRoute[] = [];
  for (const { server, port } of ports.servers) {
    const { traefik } = server;
    if (traefik === undefined) continue;
    const rule = { host: publication.host, port };
    const route = await applyTraefikRoute(making, {
      name: server.routeName(tcp.metadata.name),
      wanted: [rule],
      alive: [port],
      manifest: (former) => serverRouteTcp(tcp, { ...server, traefik }, [rule, ...former]),
    });
    others.push(route);
  }
  return [own, ...others];
}

async function makeTraefikRoute(making: Making): Promise<PublicationFacts> {
  const { scope, deps, ctx } = making;
  const routes = await whereServed(traefikKind, deps, () => applyTraefikRoutes(making));
  if (routes === undefined) {
    return notServed(
      `this cluster has no kind ${traefikKind.kind} in ${traefikKind.group}/${traefikKind.version}: install Traefik's CRDs, or use another spec.controlPlane.ingress.controllerType`,
    );
  }
  return {
    made: routes.map(({ made }) => made.metadata.name),
    status: ingressStatus(scope.tcp, undefined),
    verdict: { leads: true, message: '' },
    takeover: traefikTakeover(routes[0].made, ctx.now),
    hasFormer: routes.some(({ hasFormer }) => hasFormer),
  };
}

async function readGateways({ scope, deps, ctx }: Making): Promise<ReadonlyMap<string, Gateway>> {
  const found = await Promise.all(
    gatewayKeys(scope.tcp).map(async (key) => {
      const object = await deps.cluster.get(gateway, key, { signal: ctx.signal });
      return object === undefined ? [] : [[gatewayName(key), object] as const];
    }),
  );
  return new Map(found.flat());
}

function hasMore(route: TlsRoute, wanted: FormerRoute): boolean {
  const { hostnames, parentRefs } = formerRoute(route, wanted);
  return hostnames.length + parentRefs.length > 0;
}

/** The wanted routes, with their previous names and Gateways. */
async function withFormer(
  kind: KindRef<TlsRoute>,
  making: Making,
): Promise<{ readonly manifests: ReturnType<typeof tlsRoutes>; readonly hasFormer: boolean }> {
  const { scope, publication, ports } = making;
  const wanted = tlsRoutes(scope.tcp, publication, { ports, kind });
  const found = await Promise.all(
    wanted.map(async ({ metadata: { name }, spec }) => {
      const before = await stored(kind, name, making, (route) => hasMore(route, spec as FormerRoute));
      return before === undefined ? [] : [[name, before] as const];
    }),
  );
  const before = new Map(found.flat());
  return { manifests: tlsRoutes(scope.tcp, publication, { ports, kind, stored: before }), hasFormer: before.size > 0 };
}

async function applyRoutes(kind: KindRef<TlsRoute>, making: Making): Promise<readonly [readonly TlsRoute[], boolean]> {
  const { scope, deps, ctx } = making;
  const { manifests, hasFormer } = await withFormer(kind, making);
  const made = await Promise.all(manifests.map((manifest) => deps.apply<TlsRoute>(scope, manifest, ctx)));
  if (!hasFormer && !isElsewhere(making)) return [made, hasFormer];
  // An unchanged route is not sent again, and a watch may still show the previous one, which was accepted.
  const { namespace } = scope.tcp.metadata;
  const fresh = await Promise.all(
    made.map(async (route) => {
      const { name } = route.metadata;
      return (await deps.cluster.get(kind, { namespace, name }, { signal: ctx.signal })) ?? route;
    }),
  );
  return [fresh, hasFormer];
}

async function makeRoutes(making: Making): Promise<PublicationFacts> {
  const { scope, publication, ports, deps } = making;
  for (const kind of routeKinds) {
    const applied = await whereServed(kind, deps, () => applyRoutes(kind, making));
    if (applied === undefined) continue;
    const [made, hasFormer] = applied;
    const gateways = await readGateways(making);
    const { name } = scope.tcp.metadata;
    const factsOf = (routeName: string, listener: string, host = publication.host): RouteFacts => {
      const route = needed(
        made.find(({ metadata }) => metadata.name === routeName),
        routeName,
      );
      return { tcp: scope.tcp, route, host, listener, gateways };
    };
    const own = factsOf(tenantObjects(name).tlsRoute, apiServerListener(scope.tcp));
    const others = ports.servers.map((open) => {
      const { server, port } = open;
      const host = serverHost(publication.host, open);
      const facts = factsOf(server.routeName(name), server.portName, host);
      const { gateway: status } = gatewayStatus(facts, { ...publication, host, port });
      return { server, status, verdict: routeVerdict(facts) };
    });
    // Clients without a host name of their own dial addresses: their route does not keep others from the new endpoint.
    const awaited = others.flatMap(({ server, verdict }) => (server.hostname === undefined ? [] : [verdict]));
    return {
      made: made.map(({ metadata }) => metadata.name),
      status: gatewayStatus(own, publication),
      verdict: routeVerdict(own),
      servers: Object.fromEntries(others.map(({ server, ...route }) => [server.portName, route])),
      takeover: gatewayTakeover(routeVerdict(own), ...awaited),
      hasFormer,
    };
  }
  return notServed(
    `this cluster has no kind TLSRoute in ${gatewayGroup}: install Gateway API 1.5 or newer, or the experimental channel of an older version`,
  );
}

const makers: Readonly<Record<Publication['by'], (making: Making) => Promise<PublicationFacts>>> = {
  Ingress: makeIngress,
  IngressRouteTCP: makeTraefikRoute,
  TLSRoute: makeRoutes,
};

/** Creates the routes that expose a control plane, and reports their status. */
export function makeRoute(making: Making): Promise<PublicationFacts> {
  return makers[making.publication.by](making);
}
