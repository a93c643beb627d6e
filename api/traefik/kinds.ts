import type { KindRef } from '../meta.ts';

/** A route of Traefik that is chosen by the server name of a TLS connection. It has no status. */
export const ingressRouteTcp: KindRef = {
  group: 'traefik.io',
  version: 'v1alpha1',
  kind: 'IngressRouteTCP',
  plural: 'ingressroutetcps',
  namespaced: true,
};
