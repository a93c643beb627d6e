import { apiVersionOf } from '../../../../api/meta.ts';
import type { KindRef, Manifest } from '../../../../api/meta.ts';
import { tenantObjects } from '../../../../api/names.ts';
import type { TlsRoute } from '../../../../api/gateway-api/kinds.ts';
import type { TenantControlPlane } from '../../../../api/steward/v1alpha1/tenant-control-plane.ts';
import { ownedManifest } from '../../shared/owned-manifest.ts';
import { serverHost } from '../../shared/addon-server.ts';
import { apiServerListener } from './exposure.ts';
import type { Publication, PublishedPorts } from './exposure.ts';
import { formerRoute } from './router-rules.ts';
import type { FormerRoute } from './router-rules.ts';

interface RouteParts {
  readonly name: string;
  readonly component: string;
  readonly host: string;
  /** Port of the Service. */
  readonly port: number;
  /** Port of the listener, if it differs. */
  readonly listenerPort?: number | undefined;
  /** Name of the listener. */
  readonly sectionName: string;
  /** The stored route, if its other names and Gateways must stay. */
  readonly stored: TlsRoute | undefined;
}

function tlsRoute(tcp: TenantControlPlane, kind: KindRef, parts: RouteParts): Manifest {
  const { additionalMetadata, parentRefs = [] } = tcp.spec.controlPlane.gateway ?? {};
  const { port, listenerPort = port, sectionName, stored } = parts;
  const wanted: FormerRoute = {
    hostnames: [parts.host],
    parentRefs: parentRefs.map((parent) => ({ ...parent, port: listenerPort, sectionName })),
  };
  const former = stored === undefined ? { hostnames: [], parentRefs: [] } : formerRoute(stored, wanted);
  return ownedManifest(tcp, {
    apiVersion: apiVersionOf(kind),
    kind: kind.kind,
    name: parts.name,
    component: parts.component,
    labels: additionalMetadata?.labels,
    annotations: additionalMetadata?.annotations,
    body: {
      spec: {
        parentRefs: [...wanted.parentRefs, ...former.parentRefs],
        hostnames: [...wanted.hostnames, ...former.hostnames],
        rules: [{ backendRefs: [{ name: tenantObjects(tcp.metadata.name).service, port }] }],
      },
    },
  });
}

/**
 * The routes that expose a control plane through Gateways: that of the API server first, then those of add-ons, whose
 * listeners have ports of their own. `kind` is TLSRoute in the version that the cluster serves; other names and Gateways of
 * the routes in `stored` stay.
 */
export function tlsRoutes(
  tcp: TenantControlPlane,
  publication: Publication,
  to: {
    readonly ports: PublishedPorts;
    readonly kind: KindRef<TlsRoute>;
    readonly stored?: ReadonlyMap<string, TlsRoute>;
  },
): readonly Manifest[] {
  const { name } = tcp.metadata;
  const { apiServer, servers } = to.ports;
  const parts: readonly Omit<RouteParts, 'stored'>[] = [
    {
      name: tenantObjects(name).tlsRoute,
      component: 'gateway_routes',
      host: publication.host,
      port: apiServer,
      listenerPort: tcp.spec.controlPlane.gateway?.port,
      sectionName: apiServerListener(tcp),
    },
    ...servers.map((open) => ({
      name: open.server.routeName(name),
      component: open.server.tlsRouteComponent,
      host: serverHost(publication.host, open),
      port: open.port,
      sectionName: open.server.portName,
    })),
  ];
  return parts.map((part) => tlsRoute(tcp, to.kind, { ...part, stored: to.stored?.get(part.name) }));
}
