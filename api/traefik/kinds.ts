import type { KindRef } from '../meta.ts';

/** A Traefik route selected by the server name (SNI) of a TLS connection. It has no status. */
export const ingressRouteTcp: KindRef = {
  group: 'traefik.io',
  version: 'v1alpha1',
  kind: 'IngressRouteTCP',
  plural: 'ingressroutetcps',
  namespaced: true,
};
