import type { PlainObject } from '../cluster/kubernetes-client.ts';

/** A name that a route leads to a port of a Service of its namespace. */
export interface RouteRule {
  readonly host: string;
  readonly service: string;
  readonly port: number;
}

interface Backend {
  readonly name: string;
  readonly port: number;
}

interface IngressSpec {
  readonly rules?: readonly {
    readonly host?: string;
    readonly http?: {
      readonly paths: readonly {
        readonly backend: { readonly service: { readonly name: string; readonly port: { readonly number: number } } };
      }[];
    };
  }[];
}

interface TlsRouteSpec {
  readonly hostnames?: readonly string[];
  readonly rules?: readonly { readonly backendRefs?: readonly Backend[] }[];
}

interface TraefikSpec {
  readonly routes?: readonly { readonly match: string; readonly services?: readonly Backend[] }[];
}

/** What an Ingress, a TLSRoute or an IngressRouteTCP asks its controller for. */
export function routeRules({ kind, spec = {} }: PlainObject): readonly RouteRule[] {
  if (kind === 'Ingress') {
    return ((spec as IngressSpec).rules ?? []).flatMap(({ host = '', http }) =>
      (http?.paths ?? []).map(({ backend: { service } }) => ({
        host,
        service: service.name,
        port: service.port.number,
      })),
    );
  }
  if (kind === 'TLSRoute') {
    const { hostnames = [], rules = [] } = spec as TlsRouteSpec;
    const backends = rules.flatMap(({ backendRefs = [] }) => backendRefs);
    return hostnames.flatMap((host) => backends.map(({ name, port }) => ({ host, service: name, port })));
  }
  return ((spec as TraefikSpec).routes ?? []).flatMap(({ match, services = [] }) => {
    const host = /HostSNI\(`([^`]+)`\)/.exec(match)?.[1] ?? '';
    return services.map(({ name, port }) => ({ host, service: name, port }));
  });
}
