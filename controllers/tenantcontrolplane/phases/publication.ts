import type { Ingress } from '../../../api/core/kinds.ts';
import { kinds } from '../../../api/core/kinds.ts';
import { gateway, gatewayGroup, tlsRoutes as routeKinds } from '../../../api/gateway-api/kinds.ts';
import type { Gateway, TlsRoute } from '../../../api/gateway-api/kinds.ts';
import type { KindRef } from '../../../api/meta.ts';
import { ports as portNames, tenantObjects } from '../../../api/names.ts';
import { ingressRouteTcp as traefikKind } from '../../../api/traefik/kinds.ts';
import type { Context } from '../../../runtime/controller.ts';
import { ApiError } from '../../../runtime/errors.ts';
import type { Outcome } from '../../../runtime/phases.ts';
import { ingress } from '../components/ingress.ts';
import { ingressRouteTcp, trustdRouteTcp } from '../components/ingress-route-tcp.ts';
import { publicationOf } from '../components/publication.ts';
import type { Publication, PublishedPorts } from '../components/publication.ts';
import { gatewayStatus, ingressStatus } from '../components/publication-status.ts';
import { gatewayKeys, gatewayName, routeVerdict } from '../components/route-verdict.ts';
import type { RouteFacts, RouteVerdict } from '../components/route-verdict.ts';
import { tlsRoutes } from '../components/tls-routes.ts';
import type { Dependencies } from '../dependencies.ts';
import { needed } from '../scope.ts';
import type { PublicationFacts, Scope } from '../scope.ts';

/** After this many milliseconds it is looked again where no watch tells of a change. */
const lookAgainMs = 30_000;

/** True when the API server does not know the kind at all: an object that it misses would be named. */
function isUnknownKind(error: unknown): boolean {
  return error instanceof ApiError && error.code === 404 && !error.message.endsWith('" not found');
}

/** What the work comes to, or undefined when the cluster does not serve the kind. */
async function whereServed<T>(kind: KindRef, deps: Dependencies, work: () => Promise<T>): Promise<T | undefined> {
  if (!deps.isServed(kind)) return undefined;
  try {
    return await work();
  } catch (error) {
    if (isUnknownKind(error)) return undefined;
    throw error;
  }
}

/** The ports as the Service has them: that of konnectivity only where the add-on is on. */
function portsOf({ service, endpoint }: Readonly<Scope>): PublishedPorts {
  const entries = needed(service, 'service').spec?.ports ?? [];
  return {
    apiServer: needed(endpoint, 'endpoint').port,
    konnectivity: entries.find(({ name }) => name === portNames.konnectivity)?.port,
    trustd: entries.find(({ name }) => name === portNames.trustdService)?.port,
  };
}

interface Making {
  readonly scope: Readonly<Scope>;
  readonly publication: Publication;
  readonly ports: PublishedPorts;
  readonly deps: Dependencies;
  readonly ctx: Context;
}

async function makeIngress({ scope, publication, ports, deps, ctx }: Making): Promise<PublicationFacts> {
  const made = await deps.apply<Ingress>(scope, ingress(scope.tcp, publication, ports), ctx);
  const hasAddress = (made.status?.loadBalancer?.ingress ?? []).length > 0;
  const message = `Ingress ${made.metadata.name ?? ''} carries no address yet; not every controller writes one`;
  const verdict = { leads: true, message: hasAddress ? '' : message } as const;
  return { made: [made.metadata.name ?? ''], status: ingressStatus(scope.tcp, made), verdict };
}

async function makeTraefikRoute({ scope, publication, ports, deps, ctx }: Making): Promise<PublicationFacts> {
  const { tcp } = scope;
  const { trustd } = ports;
  const manifests = [
    ingressRouteTcp(tcp, publication, ports),
    ...(trustd === undefined ? [] : [trustdRouteTcp(tcp, publication, trustd)]),
  ];
  const made = await whereServed(traefikKind, deps, () =>
    Promise.all(manifests.map((manifest) => deps.apply(scope, manifest, ctx))),
  );
  if (made !== undefined) {
    const verdict = { leads: true, message: '' } as const;
    return { made: made.map(({ metadata }) => metadata.name ?? ''), status: ingressStatus(tcp, undefined), verdict };
  }
  return notServed(
    `this cluster has no kind ${traefikKind.kind} in ${traefikKind.group}/${traefikKind.version}: install Traefik's definitions, or use another spec.controlPlane.ingress.controllerType`,
  );
}

function notServed(message: string): PublicationFacts {
  return { made: undefined, status: {}, verdict: { leads: false, reason: 'KindNotInstalled', message } };
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

async function makeRoutes(making: Making): Promise<PublicationFacts> {
  const { scope, publication, ports, deps, ctx } = making;
  for (const kind of routeKinds) {
    const manifests = tlsRoutes(scope.tcp, publication, { ports, kind });
    const made = await whereServed(kind, deps, () =>
      Promise.all(manifests.map((manifest) => deps.apply<TlsRoute>(scope, manifest, ctx))),
    );
    if (made === undefined) continue;
    const gateways = await readGateways(making);
    const { tlsRoute, konnectivityRoute, trustdRoute } = tenantObjects(scope.tcp.metadata.name ?? '');
    const factsOf = (name: string, listener: string): RouteFacts | undefined => {
      const route = made.find(({ metadata }) => metadata.name === name);
      return route === undefined ? undefined : { tcp: scope.tcp, route, listener, gateways };
    };
    const own = factsOf(tlsRoute, portNames.apiServer);
    const agents = factsOf(konnectivityRoute, portNames.konnectivity);
    const trustd = factsOf(trustdRoute, portNames.trustdService);
    if (own === undefined) throw new Error('a publication by Gateways has no route');
    return {
      made: made.map(({ metadata }) => metadata.name ?? ''),
      status: gatewayStatus(own, publication),
      verdict: routeVerdict(own),
      ...(agents !== undefined && { agents: routeVerdict(agents) }),
      ...(trustd !== undefined && { trustd: routeVerdict(trustd) }),
    };
  }
  return notServed(
    `this cluster has no kind TLSRoute in ${gatewayGroup}: install Gateway API 1.5 or newer, or the experimental channel of an older one`,
  );
}

const makers: Readonly<Record<Publication['by'], (making: Making) => Promise<PublicationFacts>>> = {
  Ingress: makeIngress,
  IngressRouteTCP: makeTraefikRoute,
  TLSRoute: makeRoutes,
};

/** The names of routes by the way of publishing, with the kinds that hold them: versions of one kind hold the same. */
function families(name: string): readonly {
  readonly by: Publication['by'];
  readonly kinds: readonly KindRef[];
  readonly names: readonly string[];
}[] {
  const names = tenantObjects(name);
  return [
    { by: 'Ingress', kinds: [kinds.Ingress], names: [names.ingress] },
    { by: 'IngressRouteTCP', kinds: [traefikKind], names: [names.ingress, names.trustdRoute] },
    { by: 'TLSRoute', kinds: routeKinds, names: [names.tlsRoute, names.konnectivityRoute, names.trustdRoute] },
  ];
}

interface Removing {
  readonly scope: Readonly<Scope>;
  readonly deps: Dependencies;
  readonly ctx: Context;
}

/** Removes an object of ours that the watches know of. One that is being made is told of later, and then removed. */
async function remove(among: readonly KindRef[], name: string, { scope, deps, ctx }: Removing): Promise<void> {
  const { namespace = '', uid: owner } = scope.tcp.metadata;
  const key = { namespace, name };
  const kind = among.find((one) => deps.cached(one, key) !== undefined);
  if (kind === undefined) return;
  const { uid, deletionTimestamp, ownerReferences = [] } = deps.cached(kind, key)?.metadata ?? {};
  const isOurs = ownerReferences.some((reference) => reference.uid === owner && reference.controller === true);
  if (!isOurs || deletionTimestamp !== undefined) return;
  await deps.cluster.delete(kind, key, { ...(uid !== undefined && { uid }), signal: ctx.signal });
}

/**
 * The routes by which the endpoint is published, and no others: those of another way are removed once the way that is wanted
 * is there.
 */
export async function publication(scope: Readonly<Scope>, deps: Dependencies, ctx: Context): Promise<Outcome<Scope>> {
  const { tcp } = scope;
  const ports = portsOf(scope);
  const wanted = publicationOf(tcp, ports.apiServer);
  const facts: PublicationFacts =
    wanted === undefined
      ? { made: [], status: {} }
      : await makers[wanted.by]({ scope, publication: wanted, ports, deps, ctx });
  const { made } = facts;
  if (made === undefined) return { is: 'done', learned: { publication: facts } };
  const superfluous = families(tcp.metadata.name ?? '').flatMap(({ by, kinds: among, names }) =>
    names.filter((name) => by !== wanted?.by || !made.includes(name)).map((name) => ({ among, name })),
  );
  await Promise.all(superfluous.map(({ among, name }) => remove(among, name, { scope, deps, ctx })));
  return { is: 'done', learned: { publication: facts } };
}

/** Waits until the routes lead to the control plane, as far as those who serve them tell. */
export function published({ publication: facts }: Readonly<Scope>): Promise<Outcome<Scope>> {
  const { verdict } = needed(facts, 'publication');
  if (verdict === undefined) return Promise.resolve({ is: 'done' });
  if (verdict.leads) return Promise.resolve({ is: 'done', message: verdict.message });
  const { reason, message } = verdict;
  // What becomes of a route is told by the route; a Gateway may be in a namespace that is not followed.
  const wait = reason === 'RouteNotAccepted' ? {} : { afterMs: lookAgainMs };
  return Promise.resolve({ is: 'waiting', reason, message, ...wait });
}

/** Waits until a Gateway accepts a route; that it listens at all is told of the endpoint. */
function accepted(verdict: RouteVerdict | undefined): Promise<Outcome<Scope>> {
  if (verdict === undefined || verdict.leads || verdict.reason === 'NotExposed') return Promise.resolve({ is: 'done' });
  return Promise.resolve({ is: 'waiting', reason: verdict.reason, message: verdict.message });
}

/** Waits until a Gateway leads agents of konnectivity to the control plane. */
export function agentsPublished({ publication: facts }: Readonly<Scope>): Promise<Outcome<Scope>> {
  return accepted(needed(facts, 'publication').agents);
}

/** Waits until a Gateway leads workers to trustd. */
export function trustdPublished({ publication: facts }: Readonly<Scope>): Promise<Outcome<Scope>> {
  return accepted(needed(facts, 'publication').trustd);
}
