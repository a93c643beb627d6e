import type { KindRef, NamespacedResource } from '../meta.ts';

/** A Traefik route selected by the server name (SNI) of a TLS connection. It has no status. */
export const ingressRouteTcp: KindRef<NamespacedResource> = {
  group: 'traefik.io',
  version: 'v1alpha1',
  kind: 'IngressRouteTCP',
  plural: 'ingressroutetcps',
  namespaced: true,
};
