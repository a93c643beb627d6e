import { kinds } from '../../../../api/core/kinds.ts';
import { tlsRoutes as routeKinds } from '../../../../api/gateway-api/kinds.ts';
import type { KindRef } from '../../../../api/meta.ts';
import { tenantObjects } from '../../../../api/names.ts';
import type { TenantControlPlane } from '../../../../api/steward/v1alpha1/tenant-control-plane.ts';
import { ingressRouteTcp as traefikKind } from '../../../../api/traefik/kinds.ts';
import type { Context } from '../../../../runtime/reconcile/controller.ts';
import type { Publication } from './exposure.ts';
import type { Dependencies } from '../../dependencies.ts';
import type { AddonServer } from '../../shared/addon-server.ts';
import type { Scope } from '../../scope.ts';

/** A route that a control plane may have. */
export interface RouteName {
  readonly by: Publication['by'];
  /** The versions of the kind, all of which hold the same objects. */
  readonly among: readonly KindRef[];
  readonly name: string;
}

/** All routes that a control plane may have, also for add-ons that are off. */
export function routesOf(
  { metadata: { name } }: TenantControlPlane,
  servers: readonly AddonServer[],
): readonly RouteName[] {
  const names = tenantObjects(name);
  return [
    { by: 'Ingress', among: [kinds.Ingress], name: names.ingress },
    { by: 'IngressRouteTCP', among: [traefikKind], name: names.ingress },
    { by: 'TLSRoute', among: routeKinds, name: names.tlsRoute },
    ...servers.flatMap((server): readonly RouteName[] => {
      const own = server.routeName(name);
      const byTraefik = { by: 'IngressRouteTCP', among: [traefikKind], name: own } as const;
      return [{ by: 'TLSRoute', among: routeKinds, name: own }, ...(server.traefik === undefined ? [] : [byTraefik])];
    }),
  ];
}

/** The owner of routes, and the dependencies to read and remove them. */
export interface RouteHolder {
  readonly scope: Readonly<Scope>;
  readonly deps: Dependencies;
  readonly ctx: Context;
}

function known({ among, name }: RouteName, { scope, deps }: RouteHolder): { kind: KindRef; uid?: string } | undefined {
  const { namespace, uid: owner } = scope.tcp.metadata;
  const key = { namespace, name };
  const kind = among.find((one) => deps.cached(one, key) !== undefined);
  if (kind === undefined) return undefined;
  const { uid, deletionTimestamp, ownerReferences = [] } = deps.cached(kind, key)?.metadata ?? {};
  const isOurs = ownerReferences.some((reference) => reference.uid === owner && reference.controller === true);
  if (!isOurs || deletionTimestamp !== undefined) return undefined;
  return { kind, uid };
}

/** True when the watches know such an object of ours. They also report one that is created later. */
export function isKnown(route: RouteName, holder: RouteHolder): boolean {
  return known(route, holder) !== undefined;
}

/** Removes a route that is known and ours. */
export async function removeRoute(route: RouteName, holder: RouteHolder): Promise<void> {
  const { scope, deps, ctx } = holder;
  const found = known(route, holder);
  if (found === undefined) return;
  const { kind, uid } = found;
  const key = { namespace: scope.tcp.metadata.namespace, name: route.name };
  await deps.cluster.delete(kind, key, { uid, signal: ctx.signal });
}
