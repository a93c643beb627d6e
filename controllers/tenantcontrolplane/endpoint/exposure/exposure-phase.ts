import type { TenantControlPlane } from '../../../../api/steward/v1alpha1/tenant-control-plane.ts';
import type { Context } from '../../../../runtime/reconcile/controller.ts';
import type { Finding, Outcome } from '../../../../runtime/reconcile/phases.ts';
import { publicationOf } from './exposure.ts';
import { contestedHosts, rivalWords, seniorRivals } from '../host-claims.ts';
import type { RouteVerdict } from './route-status.ts';
import { taken } from './route-switch.ts';
import type { Dependencies } from '../../dependencies.ts';
import { needed } from '../../scope.ts';
import type { PublicationFacts, Scope } from '../../scope.ts';
import { serverHost, serversOf } from '../../shared/addon-server.ts';
import type { OpenServer } from '../../shared/addon-server.ts';
import { makeRoute } from './apply-routes.ts';
import type { Making } from './apply-routes.ts';
import { publishedPorts } from '../exposed-ports.ts';
import { isIpAddress, splitHostPort } from '../../../../kubeadm/networks.ts';
import { isKnown, removeRoute, routesOf } from './routes.ts';
import type { RouteName } from './routes.ts';

/** Until the next check where no watch reports a change, in milliseconds. */
const lookAgainMs = 30_000;

/** Leaves host names to older control planes, of which the first is reported. */
async function giveWay(making: Making, seniors: readonly TenantControlPlane[]): Promise<PublicationFacts> {
  const { scope, deps, ctx } = making;
  const { tcp } = scope;
  const rival = needed(seniors[0], 'rival');
  const servers = serversOf(deps.addons);
  const [host = making.publication.host] = contestedHosts(tcp, rival, servers);
  const { namespace, name } = rival.metadata;
  // The log is read by the operator only, who may know the name.
  ctx.log.warn('a host name is already in use', { host, by: `${namespace}/${name}` });
  await withdrawRoutes(making, new Set(seniors.flatMap((senior) => contestedHosts(tcp, senior, servers))));
  const message = `${rivalWords(tcp, rival)}, which is older, already uses the host name ${host}: use another host name, or wait until that TenantControlPlane is deleted`;
  return {
    made: undefined,
    status: {},
    verdict: { leads: false, reason: 'HostNameTaken', message },
    takeover: { is: false, until: `the host name is free: ${message}` },
    hasFormer: false,
  };
}

async function make(scope: Readonly<Scope>, deps: Dependencies, ctx: Context): Promise<PublicationFacts> {
  const ports = publishedPorts(scope, deps);
  const publication = publicationOf(scope.tcp, ports.apiServer);
  if (publication === undefined) return { made: [], status: {}, takeover: taken, hasFormer: false };
  const making = { scope, publication, ports, keepsFormer: true, deps, ctx };
  const seniors = seniorRivals(scope.tcp, deps.allTenants(), serversOf(deps.addons));
  return seniors.length === 0 ? makeRoute(making) : giveWay(making, seniors);
}

/**
 * Creates the routes that expose the endpoint, and reports whether they lead to the control plane, as far as their controllers say so.
 * Previous rules and routes of other kinds stay for now. A failure stops no other phase: pods and keys do not need routes.
 */
export async function publication(scope: Readonly<Scope>, deps: Dependencies, ctx: Context): Promise<Outcome<Scope>> {
  try {
    const publication = await make(scope, deps, ctx);
    const { verdict, servers = {} } = publication;
    const findings: readonly Finding[] = [
      { condition: 'EndpointReady', outcome: published(verdict) },
      ...Object.values(servers).map((route) => ({ condition: 'AddonsReady', outcome: accepted(route.verdict) })),
    ];
    return { is: 'done', learned: { publication }, findings };
  } catch (error) {
    ctx.signal.throwIfAborted();
    const takeover = { is: false, until: 'its route is created' } as const;
    const publication = { made: undefined, status: {}, takeover, hasFormer: false };
    return { is: 'done', learned: { publication }, findings: [{ condition: 'EndpointReady', error }] };
  }
}

function published(verdict: PublicationFacts['verdict']): Outcome<never> {
  if (verdict === undefined) return { is: 'done' };
  if (verdict.leads) return { is: 'done', message: verdict.message };
  const { reason, message } = verdict;
  // Watches report changes of routes; a Gateway may be in a namespace that is not watched.
  const wait = reason === 'RouteNotAccepted' || reason === 'HostNameTaken' ? {} : { afterMs: lookAgainMs };
  return { is: 'waiting', reason, message, ...wait };
}

/** Whether a Gateway accepts a route; whether it listens at all is reported for the endpoint. */
function accepted(verdict: RouteVerdict): Outcome<never> {
  if (verdict.leads || verdict.reason === 'NotExposed') return { is: 'done' };
  return { is: 'waiting', reason: verdict.reason, message: verdict.message };
}

/** The server under a host name that it may keep; none if that name is taken, or the one of the API server. */
function keptServer(
  open: OpenServer,
  host: string,
  { scope, publication }: Making,
  taken: ReadonlySet<string>,
): readonly OpenServer[] {
  if (open.server.hostname === undefined) return [open];
  const dialed = open.server.hostname.dialed(scope.tcp)?.host;
  const hostname = dialed === undefined || isIpAddress(dialed) ? serverHost(host, open) : dialed;
  const isDistinct = hostname !== host || publication.by === 'TLSRoute';
  return isDistinct && !taken.has(hostname) ? [{ ...open, hostname }] : [];
}

/** Removes host names that are taken from the routes of this kind, if they have them. Others that are still in use stay in them. */
export async function withdrawRoutes(making: Making, taken: ReadonlySet<string>): Promise<void> {
  const { scope, publication, ports, deps } = making;
  const routes = routesOf(scope.tcp, serversOf(deps.addons)).filter(
    (route) => route.by === publication.by && isKnown(route, making),
  );
  if (routes.length === 0) return;
  const remove = (found: readonly RouteName[]): Promise<unknown> =>
    Promise.all(found.map((route) => removeRoute(route, making)));
  const recorded = scope.tcp.status?.controlPlaneEndpoint ?? '';
  const inUse = recorded === '' ? undefined : splitHostPort(recorded, 'status.controlPlaneEndpoint').host;
  if (inUse === undefined || isIpAddress(inUse) || taken.has(inUse)) {
    await remove(routes);
    return;
  }
  const servers = ports.servers.flatMap((open) => keptServer(open, inUse, making, taken));
  const kept = { publication: { ...publication, host: inUse }, ports: { ...ports, servers }, keepsFormer: false };
  const { made = [] } = await makeRoute({ ...making, ...kept });
  await remove(routes.filter(({ name }) => !made.includes(name)));
}
