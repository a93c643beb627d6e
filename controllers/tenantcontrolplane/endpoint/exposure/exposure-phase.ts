import type { TenantControlPlane } from '../../../../api/steward/v1alpha1/tenant-control-plane.ts';
import type { Context } from '../../../../runtime/reconcile/controller.ts';
import type { Finding, Outcome } from '../../../../runtime/reconcile/phases.ts';
import { publicationOf } from './exposure.ts';
import { rivalWords, seniorRival } from '../host-claims.ts';
import type { RouteVerdict } from './route-status.ts';
import { taken } from './route-switch.ts';
import type { Dependencies } from '../../dependencies.ts';
import type { PublicationFacts, Scope } from '../../scope.ts';
import { serversOf } from '../../shared/addon-server.ts';
import { makeRoute } from './apply-routes.ts';
import type { Making } from './apply-routes.ts';
import { publishedPorts } from '../exposed-ports.ts';
import { isIpAddress, splitHostPort } from '../../../../kubeadm/networks.ts';
import { isKnown, removeRoute, routesOf } from './routes.ts';

/** Until the next check where no watch reports a change, in milliseconds. */
const lookAgainMs = 30_000;

/** Leaves a host name to an older control plane. */
async function giveWay(making: Making, rival: TenantControlPlane): Promise<PublicationFacts> {
  const { scope, publication, ctx } = making;
  const { tcp } = scope;
  const { namespace, name } = rival.metadata;
  // The log is read by the operator only, who may know the name.
  ctx.log.warn('a host name is already in use', { host: publication.host, by: `${namespace}/${name}` });
  await withdrawRoutes(making);
  const message = `${rivalWords(tcp, rival)}, which is older, already uses the host name ${publication.host} or one derived from it: use another host name, or wait until that TenantControlPlane is deleted`;
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
  const rival = seniorRival(scope.tcp, deps.allTenants(), serversOf(deps.addons));
  return rival === undefined ? makeRoute(making) : giveWay(making, rival);
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

/** Removes the wanted host name from the routes of this kind, if they have it. A host name that is still in use stays in them. */
export async function withdrawRoutes(making: Making): Promise<void> {
  const { scope, publication, deps } = making;
  const routes = routesOf(scope.tcp, serversOf(deps.addons)).filter(
    (route) => route.by === publication.by && isKnown(route, making),
  );
  if (routes.length === 0) return;
  const recorded = scope.tcp.status?.controlPlaneEndpoint ?? '';
  const inUse = recorded === '' ? publication.host : splitHostPort(recorded, 'status.controlPlaneEndpoint').host;
  if (inUse === publication.host || isIpAddress(inUse)) {
    await Promise.all(routes.map((route) => removeRoute(route, making)));
    return;
  }
  await makeRoute({ ...making, publication: { ...publication, host: inUse }, keepsFormer: false });
}
