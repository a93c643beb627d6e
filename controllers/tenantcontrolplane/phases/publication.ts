import type { TenantControlPlane } from '../../../api/steward/v1alpha1/tenant-control-plane.ts';
import type { Context } from '../../../runtime/controller.ts';
import type { Outcome } from '../../../runtime/phases.ts';
import { publicationOf } from '../components/publication.ts';
import { rivalWords, seniorRival } from '../components/host-claims.ts';
import type { RouteVerdict } from '../components/route-verdict.ts';
import { taken } from '../components/takeover.ts';
import type { Dependencies } from '../dependencies.ts';
import { needed } from '../scope.ts';
import type { PublicationFacts, Scope } from '../scope.ts';
import { makeRoute } from './making-routes.ts';
import type { Making } from './making-routes.ts';
import { publishedPorts } from './published-ports.ts';
import { withdrawRoutes } from './withdraw-routes.ts';

/** After this many milliseconds it is looked again where no watch tells of a change. */
const lookAgainMs = 30_000;

/** Leaves a host name to an older control plane. */
async function giveWay(making: Making, rival: TenantControlPlane): Promise<PublicationFacts> {
  const { scope, publication, ctx } = making;
  const { tcp } = scope;
  const { namespace, name } = rival.metadata;
  // The log is the operator's own, who may know.
  ctx.log.warn('a host name is taken', { host: publication.host, by: `${namespace ?? ''}/${name ?? ''}` });
  await withdrawRoutes(making);
  const message = `${rivalWords(tcp, rival)}, which is older, has the host name ${publication.host} or one that goes with it: give another one, or wait until that one is gone`;
  return {
    made: undefined,
    status: {},
    verdict: { leads: false, reason: 'HostNameTaken', message },
    takeover: { is: false, until: message },
    hasFormer: false,
  };
}

async function make(scope: Readonly<Scope>, deps: Dependencies, ctx: Context): Promise<PublicationFacts> {
  const ports = publishedPorts(scope);
  const publication = publicationOf(scope.tcp, ports.apiServer);
  if (publication === undefined) return { made: [], status: {}, takeover: taken, hasFormer: false };
  const making = { scope, publication, ports, keepsFormer: true, deps, ctx };
  const rival = seniorRival(scope.tcp, deps.allTenants());
  return rival === undefined ? makeRoute(making) : giveWay(making, rival);
}

/**
 * The routes by which the endpoint is to be published. What else they lead stays for now, and so do those of another way. That
 * they could not be made is told of in `published`: pods and keys do not need them.
 */
export async function publication(scope: Readonly<Scope>, deps: Dependencies, ctx: Context): Promise<Outcome<Scope>> {
  try {
    return { is: 'done', learned: { publication: await make(scope, deps, ctx) } };
  } catch (error) {
    ctx.signal.throwIfAborted();
    const failure = error instanceof Error ? error : new Error(String(error));
    const takeover = { is: false, until: 'its route is made' } as const;
    return {
      is: 'done',
      learned: { publication: { failure, made: undefined, status: {}, takeover, hasFormer: false } },
    };
  }
}

/** Waits until the routes lead to the control plane, as far as those who serve them tell. Throws why there are none. */
export async function published({ publication: facts }: Readonly<Scope>): Promise<Outcome<Scope>> {
  const { verdict, failure } = needed(facts, 'publication');
  if (failure !== undefined) throw failure;
  if (verdict === undefined) return Promise.resolve({ is: 'done' });
  if (verdict.leads) return Promise.resolve({ is: 'done', message: verdict.message });
  const { reason, message } = verdict;
  // What becomes of a route is told by the route; a Gateway may be in a namespace that is not followed.
  const wait = reason === 'RouteNotAccepted' || reason === 'HostNameTaken' ? {} : { afterMs: lookAgainMs };
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
