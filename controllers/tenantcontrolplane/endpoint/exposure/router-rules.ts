import type { Ingress } from '../../../../api/core/kinds.ts';
import { gatewayGroup, gateway as gatewayKind } from '../../../../api/gateway-api/kinds.ts';
import type { RouteParent, TlsRoute } from '../../../../api/gateway-api/kinds.ts';
import type { Resource } from '../../../../api/meta.ts';
import type { HostRule } from './exposure.ts';

/** The rules of a stored Ingress that lead to a Service by its port number, as all of ours do. */
export function ingressRules({ spec }: Ingress): readonly HostRule[] {
  return (spec?.rules ?? []).flatMap(({ host, http }) => {
    const port = http?.paths[0]?.backend.service?.port?.number;
    return host === undefined || port === undefined ? [] : [{ host, port }];
  });
}

/** The fields of a stored route of Traefik that are read here. */
export interface TraefikRoute extends Resource {
  readonly spec?: {
    readonly routes?: readonly {
      readonly match?: string;
      readonly services?: readonly { readonly port?: unknown }[];
    }[];
  };
}

/** The rules of a stored route of Traefik that name one host, as all of ours do. */
export function traefikRules({ spec }: TraefikRoute): readonly HostRule[] {
  return (spec?.routes ?? []).flatMap(({ match = '', services = [] }) => {
    const host = /^HostSNI\(`([^`]+)`\)$/.exec(match)?.[1];
    const port = services[0]?.port;
    return host === undefined || typeof port !== 'number' ? [] : [{ host, port }];
  });
}

/** Stored rules for other host names than those of `wanted` which lead to one of `alive`, the ports that the Service still has. */
export function formerRules(
  stored: readonly HostRule[],
  wanted: readonly HostRule[],
  alive: readonly (number | undefined)[],
): readonly HostRule[] {
  const hosts = new Set(wanted.map(({ host }) => host));
  return stored.filter(({ host, port }) => !hosts.has(host) && alive.includes(port));
}

/** What a stored route for Gateways has besides the wanted names and Gateways. */
export interface FormerRoute {
  readonly hostnames: readonly string[];
  readonly parentRefs: readonly RouteParent[];
}

const nameOf = ({ group = gatewayGroup, kind = gatewayKind.kind, namespace = '', name }: RouteParent): string =>
  `${group} ${kind} ${namespace}/${name}`;

/** True when both refer to the same Gateway, seen from a namespace. A parent is listed once: its listeners do not count. */
export function isSameParent(one: RouteParent, other: RouteParent, namespace: string): boolean {
  return nameOf({ namespace, ...one }) === nameOf({ namespace, ...other });
}

/** The host names and Gateways of a stored route that are not among those of `wanted`. */
export function formerRoute(stored: TlsRoute, wanted: FormerRoute): FormerRoute {
  const { hostnames = [], parentRefs = [] } = stored.spec ?? {};
  const namespace = stored.metadata.namespace;
  return {
    hostnames: hostnames.filter((host) => !wanted.hostnames.includes(host)),
    parentRefs: parentRefs.filter((ref) => !wanted.parentRefs.some((other) => isSameParent(ref, other, namespace))),
  };
}
