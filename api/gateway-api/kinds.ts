import type { KindRef, NamespacedResource } from '../meta.ts';

export const gatewayGroup = 'gateway.networking.k8s.io';

/** A condition as Gateway API writes it. */
export interface GatewayCondition {
  readonly type: string;
  readonly status: string;
  readonly reason?: string;
  readonly message?: string;
  readonly lastTransitionTime?: string;
  readonly observedGeneration?: number;
}

/** The Gateway, or the listener of one, to which a route attaches. */
export interface RouteParent {
  readonly group?: string;
  readonly kind?: string;
  readonly namespace?: string;
  readonly name: string;
  readonly sectionName?: string;
  readonly port?: number;
}

/** Status of a route as reported for one parent. */
export interface RouteParentStatus {
  readonly parentRef: RouteParent;
  readonly controllerName: string;
  readonly conditions?: readonly GatewayCondition[];
}

/** A Gateway, reduced to the fields that are read. */
export interface Gateway extends NamespacedResource {
  readonly spec?: {
    readonly listeners?: readonly { readonly name: string; readonly port?: number; readonly hostname?: string }[];
  };
  readonly status?: { readonly conditions?: readonly GatewayCondition[] };
}

/** A route selected by the server name (SNI) of a TLS connection, reduced to the fields that are read. */
export interface TlsRoute extends NamespacedResource {
  readonly spec?: { readonly hostnames?: readonly string[]; readonly parentRefs?: readonly RouteParent[] };
  readonly status?: { readonly parents?: readonly RouteParentStatus[] };
}

export const gateway: KindRef<Gateway> = {
  group: gatewayGroup,
  version: 'v1',
  kind: 'Gateway',
  plural: 'gateways',
  namespaced: true,
};

const tlsRoute = (version: string): KindRef<TlsRoute> => ({
  group: gatewayGroup,
  version,
  kind: 'TLSRoute',
  plural: 'tlsroutes',
  namespaced: true,
});

/**
 * TLSRoute in every served version, newest first: v1 since Gateway API 1.5, v1alpha3 or v1alpha2 before. The fields
 * that Steward writes are the same in all of them.
 */
export const tlsRoutes: readonly KindRef<TlsRoute>[] = ['v1', 'v1alpha3', 'v1alpha2'].map(tlsRoute);
