import { joinHostPort } from '../../../kubeadm/networks.ts';
import type { Context } from '../../../runtime/controller.ts';
import type { Outcome } from '../../../runtime/phases.ts';
import { publicationOf } from '../components/publication.ts';
import { writePermissionsManifests } from '../components/write-permissions-policy.ts';
import type { Dependencies } from '../dependencies.ts';
import { needed } from '../scope.ts';
import type { Scope } from '../scope.ts';
import { isOnTheWay } from './former-endpoint.ts';
import { makeRoute } from './making-routes.ts';
import { publishedPorts } from './published-ports.ts';
import { isKnown, removeRoute, routesOf } from './routes.ts';
import type { RouteHolder, RouteName } from './routes.ts';

/**
 * For how long the way of before stays after `cluster-info` tells of the new one, in milliseconds. kube-proxy starts anew when
 * the kubelet has brought it its ConfigMap, which takes it up to two minutes
 * (https://kubernetes.io/docs/concepts/configuration/configmap/#mounted-configmaps-are-updated-automatically), and agents of
 * konnectivity are replaced one after another.
 */
export const lingerMs = 5 * 60_000;

/** Why the way of before has to stay, when anybody may still come by it. */
function reasonToStay(
  scope: Readonly<Scope>,
  now: Date,
): { readonly until: string; readonly afterMs?: number } | undefined {
  const { tcp, target, publication, bootstrapChecksum } = scope;
  const { takeover } = needed(publication, 'publication');
  if (!takeover.is) return takeover;
  const { host, hostPort } = needed(target, 'target');
  const where = joinHostPort(host, hostPort);
  if (isOnTheWay(scope)) return { until: `all are told of ${where}` };
  // The tenant's own documents were not written in this visit, or may not be.
  if (bootstrapChecksum === undefined || writePermissionsManifests(tcp).length > 0) {
    return { until: `the documents inside the tenant can name ${where}` };
  }
  const told = tcp.status?.kubeadmPhase?.bootstrapToken;
  const since = told?.checksum === bootstrapChecksum ? Date.parse(told.lastUpdate ?? '') : now.getTime();
  const afterMs = since + lingerMs - now.getTime();
  return afterMs > 0
    ? { until: `everything in the tenant has had five minutes to follow to ${where}`, afterMs }
    : undefined;
}

/** The known routes that are not among those which were made, apart: of the present way, and of others. */
function superfluous(
  scope: Readonly<Scope>,
  made: readonly string[],
  holder: RouteHolder,
): { readonly aimless: readonly RouteName[]; readonly others: readonly RouteName[] } {
  const by = publicationOf(scope.tcp, publishedPorts(scope).apiServer)?.by;
  const found = routesOf(scope.tcp)
    .filter((route) => route.by !== by || !made.includes(route.name))
    .filter((route) => isKnown(route, holder));
  return { aimless: found.filter((route) => route.by === by), others: found.filter((route) => route.by !== by) };
}

/** Removes routes of the present way whose port the Service has no more: they lead nobody, whatever the tenant is like inside. */
export async function aimlessRoutes(scope: Readonly<Scope>, deps: Dependencies, ctx: Context): Promise<Outcome<Scope>> {
  const { made } = needed(scope.publication, 'publication');
  if (made === undefined) return { is: 'done' };
  const removing = { scope, deps, ctx };
  const { aimless } = superfluous(scope, made, removing);
  await Promise.all(aimless.map((route) => removeRoute(route, removing)));
  return { is: 'done' };
}

/**
 * Takes back what does not publish the endpoint any more, once nothing can be told to come by it: routes of another way, and
 * what the routes that stay lead besides. What is left to do is read from the routes themselves, by whatever process.
 */
export async function unpublication(scope: Readonly<Scope>, deps: Dependencies, ctx: Context): Promise<Outcome<Scope>> {
  const { tcp } = scope;
  const { made, hasFormer } = needed(scope.publication, 'publication');
  if (made === undefined) return { is: 'done' };
  const removing = { scope, deps, ctx };
  const { others } = superfluous(scope, made, removing);
  if (others.length === 0 && !hasFormer) return { is: 'done' };
  const stays = reasonToStay(scope, ctx.now);
  if (stays !== undefined) {
    const { until, afterMs } = stays;
    const message = `the way of publishing that was there before stays until ${until}`;
    return { is: 'done', message, ...(afterMs !== undefined && { afterMs }) };
  }
  await Promise.all(others.map((route) => removeRoute(route, removing)));
  const ports = publishedPorts(scope);
  const wanted = publicationOf(tcp, ports.apiServer);
  if (hasFormer && wanted !== undefined) {
    await makeRoute({ scope, publication: wanted, ports, keepsFormer: false, deps, ctx });
  }
  return { is: 'done' };
}
