import type { TenantControlPlane } from '../../../api/steward/v1alpha1/tenant-control-plane.ts';

/** A program of an add-on in the pods that clients dial through the Service, and through routes if there are any. */
export interface AddonServer {
  /** Name of its port in the Service, and of its listener at a Gateway. */
  readonly portName: string;
  /** Its port; undefined while the add-on is off. */
  port(tcp: TenantControlPlane): number | undefined;
  /** Other ports of its container, which nobody outside dials. */
  readonly ownPorts?: readonly number[];
  /**
   * The label of its own host name, in place of `k8s` in that of the API server: by this name, a router with one port for everything
   * leads to it. Absent where clients do not dial a name of their own.
   */
  readonly subdomain?: string;
  /** Name of its own routes: a TLSRoute and, with an entry point, one of Traefik. */
  routeName(tenant: string): string;
  /** Value of the component label on the TLSRoute. */
  readonly tlsRouteComponent: string;
  /** Traefik's entry point with a port of its own, and the value of the component label on that route. */
  readonly traefik?: { readonly entryPoint: string; readonly component: string };
}

/** A server whose add-on is on, with its port. */
export interface OpenServer {
  readonly server: AddonServer;
  readonly port: number;
}

/** The servers of add-ons. */
export function serversOf(addons: readonly { readonly server?: AddonServer }[]): readonly AddonServer[] {
  return addons.flatMap(({ server }) => server ?? []);
}

/** The servers whose add-ons are on. */
export function openServers(servers: readonly AddonServer[], tcp: TenantControlPlane): readonly OpenServer[] {
  return servers.flatMap((server) => {
    const port = server.port(tcp);
    return port === undefined ? [] : [{ server, port }];
  });
}

/** The host name at which clients dial a server, by that of the API server: with `.k8s.` replaced. */
export function serverHost(host: string, { subdomain }: Pick<AddonServer, 'subdomain'>): string {
  return subdomain === undefined ? host : host.replace('.k8s.', `.${subdomain}.`);
}
