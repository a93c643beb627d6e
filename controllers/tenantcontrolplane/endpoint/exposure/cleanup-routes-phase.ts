import { joinHostPort } from '../../../../kubeadm/networks.ts';
import type { Context } from '../../../../runtime/reconcile/controller.ts';
import type { Outcome } from '../../../../runtime/reconcile/phases.ts';
import { publicationOf } from './exposure.ts';
import type { Dependencies } from '../../dependencies.ts';
import { needed } from '../../scope.ts';
import type { Scope } from '../../scope.ts';
import { serverHost, serversOf } from '../../shared/addon-server.ts';
import { deniedOperations } from '../../shared/denied-operations.ts';
import { isOnTheWay } from '../previous-endpoint.ts';
import { makeRoute } from './apply-routes.ts';
import { publishedPorts } from '../exposed-ports.ts';
import { isKnown, removeRoute, routesOf } from './routes.ts';
import type { RouteHolder, RouteName } from './routes.ts';

/**
 * How long the previous exposure remains after `cluster-info` has the new endpoint, in milliseconds. kube-proxy restarts when the
 * kubelet has updated its ConfigMap, which takes up to two minutes
 * (https://kubernetes.io/docs/concepts/configuration/configmap/#mounted-configmaps-are-updated-automatically), and konnectivity
 * agents are replaced one after another.
 */
export const lingerMs = 5 * 60_000;

/** When the clients of each add-on were sent to the host that they are to dial; now, if they have not been yet. */
function clientsSwitched(scope: Readonly<Scope>, deps: Dependencies, now: Date): readonly number[] {
  const { tcp, target } = scope;
  const { host } = needed(target, 'target');
  const { apiServer, servers } = publishedPorts(scope, deps);
  const isRouted = publicationOf(tcp, apiServer) !== undefined;
  return servers.flatMap((open) => {
    const dialed = open.server.hostname?.dialed(tcp);
    if (dialed === undefined) return [];
    return dialed.host === (isRouted ? serverHost(host, open) : host) ? dialed.sinceMs : now.getTime();
  });
}

/** Why the previous exposure must remain: clients may still use it. */
function reasonToStay(
  scope: Readonly<Scope>,
  deps: Dependencies,
  now: Date,
): { readonly until: string; readonly afterMs?: number } | undefined {
  const { tcp, target, publication, bootstrapChecksum } = scope;
  const { takeover } = needed(publication, 'publication');
  if (!takeover.is) return takeover;
  const { host, hostPort } = needed(target, 'target');
  const where = joinHostPort(host, hostPort);
  if (isOnTheWay(scope)) return { until: `all clients are sent to ${where}` };
  // The tenant's own documents were not written in this reconcile, or must not be.
  if (bootstrapChecksum === undefined || deniedOperations(tcp).length > 0) {
    return { until: `the ConfigMaps inside the tenant can be updated to ${where}` };
  }
  const published = tcp.status?.kubeadmPhase?.bootstrapToken;
  const since = published?.checksum === bootstrapChecksum ? Date.parse(published.lastUpdate ?? '') : now.getTime();
  const afterMs = Math.max(since, ...clientsSwitched(scope, deps, now)) + lingerMs - now.getTime();
  return afterMs > 0
    ? { until: `everything in the tenant has had five minutes to switch to ${where}`, afterMs }
    : undefined;
}

/** The known routes that were not created in this reconcile, in two groups: of the current kind of exposure, and of others. */
function superfluous(
  scope: Readonly<Scope>,
  made: readonly string[],
  holder: RouteHolder,
): { readonly stale: readonly RouteName[]; readonly others: readonly RouteName[] } {
  const by = publicationOf(scope.tcp, needed(scope.target, 'target').port)?.by;
  const found = routesOf(scope.tcp, serversOf(holder.deps.addons))
    .filter((route) => route.by !== by || !made.includes(route.name))
    .filter((route) => isKnown(route, holder));
  return { stale: found.filter((route) => route.by === by), others: found.filter((route) => route.by !== by) };
}

/**
 * Removes routes of the current kind whose port the Service no longer has: they lead nowhere, regardless of the state
 * inside the tenant.
 */
export async function staleRoutes(scope: Readonly<Scope>, deps: Dependencies, ctx: Context): Promise<Outcome<Scope>> {
  const { made } = needed(scope.publication, 'publication');
  if (made === undefined) return { is: 'done' };
  const removing = { scope, deps, ctx };
  const { stale } = superfluous(scope, made, removing);
  await Promise.all(stale.map((route) => removeRoute(route, removing)));
  return { is: 'done' };
}

/**
 * Removes what no longer exposes the endpoint, once no client can know it: routes of other kinds, and previous rules of the
 * current routes. What is left to do follows from the routes themselves, in any process.
 */
export async function unpublication(scope: Readonly<Scope>, deps: Dependencies, ctx: Context): Promise<Outcome<Scope>> {
  const { tcp } = scope;
  const { made, hasFormer } = needed(scope.publication, 'publication');
  if (made === undefined) return { is: 'done' };
  const removing = { scope, deps, ctx };
  const { others } = superfluous(scope, made, removing);
  if (others.length === 0 && !hasFormer) return { is: 'done' };
  const stays = reasonToStay(scope, deps, ctx.now);
  if (stays !== undefined) {
    const { until, afterMs } = stays;
    const message = `the previous exposure remains in place until ${until}`;
    return { is: 'done', message, afterMs };
  }
  await Promise.all(others.map((route) => removeRoute(route, removing)));
  const ports = publishedPorts(scope, deps);
  const wanted = publicationOf(tcp, ports.apiServer);
  if (hasFormer && wanted !== undefined) {
    await makeRoute({ scope, publication: wanted, ports, keepsFormer: false, deps, ctx });
  }
  return { is: 'done' };
}
