import type { TenantControlPlane } from '../../../api/steward/v1alpha1/tenant-control-plane.ts';

/** How a server gets a host name of its own. */
export interface ServerHostname {
  /** The label that takes the place of `k8s` in the host name of the API server, if the author gives no name. */
  readonly subdomain: string;
  /** The field of the author's name. */
  readonly field: string;
  /** The author's name; undefined if the field is not set. */
  given(tcp: TenantControlPlane): string | undefined;
  /** The name or address that clients were sent to; undefined while there are none. */
  dialed(tcp: TenantControlPlane): DialedHost | undefined;
}

/** The host that the clients of a server dial, by the status. */
export interface DialedHost {
  readonly host: string;
  /** When they were sent there, in milliseconds since the epoch. */
  readonly sinceMs: number;
}

/** A program of an add-on in the pods that clients dial through the Service, and through routes if there are any. */
export interface AddonServer {
  /** Name of its port in the Service, and of its listener at a Gateway. */
  readonly portName: string;
  /** Its port; undefined while the add-on is off. */
  port(tcp: TenantControlPlane): number | undefined;
  /** Other ports of its container, which are not reached from outside the pod. */
  readonly ownPorts?: readonly number[];
  /**
   * Its own host name, by which a router with one port for everything leads to it. Absent where clients do not dial a name of their
   * own.
   */
  readonly hostname?: ServerHostname;
  /** Name of its own routes: a TLSRoute and, with an entry point, one of Traefik. */
  routeName(tenant: string): string;
  /** Value of the component label on the TLSRoute. */
  readonly tlsRouteComponent: string;
  /** Traefik's entry point with a port of its own, and the value of the component label on that route. */
  readonly traefik?: { readonly entryPoint: string; readonly component: string };
}

/** A server with the host name that the author gives it, if any. */
export interface NamedServer {
  readonly server: AddonServer;
  readonly hostname?: string | undefined;
}

/** A server whose add-on is on, with its port. */
export interface OpenServer extends NamedServer {
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
    return port === undefined ? [] : [{ ...namedServer(server, tcp), port }];
  });
}

/** A server with the host name that the author gives it. */
export function namedServer(server: AddonServer, tcp: TenantControlPlane): NamedServer {
  const hostname = server.hostname?.given(tcp);
  return hostname === undefined ? { server } : { server, hostname };
}

/** The host name of a server that the author does not name: that of the API server with `.k8s.` replaced. */
export function derivedHost(host: string, { hostname }: Pick<AddonServer, 'hostname'>): string {
  return hostname === undefined ? host : host.replace('.k8s.', `.${hostname.subdomain}.`);
}

/** The host name at which a router leads to a server of the control plane with this host name. */
export function serverHost(host: string, { server, hostname }: NamedServer): string {
  return hostname ?? derivedHost(host, server);
}
