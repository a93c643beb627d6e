import { apiVersionOf } from '../../../../api/meta.ts';
import type { KindRef, Manifest } from '../../../../api/meta.ts';
import { ports as portNames, tenantObjects } from '../../../../api/names.ts';
import type { TlsRoute } from '../../../../api/gateway-api/kinds.ts';
import type { TenantControlPlane } from '../../../../api/steward/v1alpha1/tenant-control-plane.ts';
import { ownedManifest } from '../../shared/owned-manifest.ts';
import { apiServerListener, konnectivityHost } from './exposure.ts';
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
        rules: [{ backendRefs: [{ name: tenantObjects(tcp.metadata.name ?? '').service, port }] }],
      },
    },
  });
}

/**
 * The routes that expose a control plane through Gateways: that of the API server first, then those of konnectivity and trustd,
 * whose listeners have ports of their own. `kind` is TLSRoute in the version that the cluster serves; other names and Gateways of
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
  const names = tenantObjects(tcp.metadata.name ?? '');
  const { apiServer, konnectivity, trustd } = to.ports;
  const parts: readonly Omit<RouteParts, 'stored'>[] = [
    {
      name: names.tlsRoute,
      component: 'gateway_routes',
      host: publication.host,
      port: apiServer,
      listenerPort: tcp.spec.controlPlane.gateway?.port,
      sectionName: apiServerListener(tcp),
    },
    ...(konnectivity === undefined
      ? []
      : [
          {
            name: names.konnectivityRoute,
            component: 'konnectivity_gateway_routes',
            host: konnectivityHost(publication.host),
            port: konnectivity,
            sectionName: portNames.konnectivity,
          },
        ]),
    ...(trustd === undefined
      ? []
      : [
          {
            name: names.trustdRoute,
            component: 'talos-trustd-gateway',
            host: publication.host,
            port: trustd,
            sectionName: portNames.trustdService,
          },
        ]),
  ];
  return parts.map((part) => tlsRoute(tcp, to.kind, { ...part, stored: to.stored?.get(part.name) }));
}
