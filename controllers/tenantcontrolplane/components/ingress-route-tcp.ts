import { apiVersionOf } from '../../../api/meta.ts';
import type { Manifest } from '../../../api/meta.ts';
import { tenantObjects } from '../../../api/names.ts';
import type { TenantControlPlane } from '../../../api/steward/v1alpha1/tenant-control-plane.ts';
import { ingressRouteTcp as kind } from '../../../api/traefik/kinds.ts';
import { ownedManifest } from './owned-manifest.ts';
import { hostRules } from './publication.ts';
import type { HostRule, Publication, PublishedPorts } from './publication.ts';

/** Where Traefik's usual configuration takes TLS. */
const entryPoints = ['websecure'];

function routesTo(service: string, rules: readonly HostRule[]): readonly object[] {
  return rules.map(({ host, port }) => ({ match: `HostSNI(\`${host}\`)`, services: [{ name: service, port }] }));
}

/**
 * Traefik's route to a control plane, by `former` rules too. It goes by the tenant's own name alone: others are those of every
 * tenant.
 */
export function ingressRouteTcp(
  tcp: TenantControlPlane,
  publication: Publication,
  to: { readonly ports: PublishedPorts; readonly former?: readonly HostRule[] },
): Manifest {
  const { additionalMetadata } = tcp.spec.controlPlane.ingress ?? {};
  const names = tenantObjects(tcp.metadata.name ?? '');
  return ownedManifest(tcp, {
    apiVersion: apiVersionOf(kind),
    kind: kind.kind,
    name: names.ingress,
    component: 'traefik-ingressroutetcp',
    labels: additionalMetadata?.labels,
    annotations: additionalMetadata?.annotations,
    body: {
      spec: {
        entryPoints,
        routes: routesTo(names.service, [...hostRules(publication, to.ports), ...(to.former ?? [])]),
        tls: { passthrough: true },
      },
    },
  });
}

/** Traefik's route to trustd by these rules, by an entry point of that name: it has a port of its own. */
export function trustdRouteTcp(tcp: TenantControlPlane, rules: readonly HostRule[]): Manifest {
  const { additionalMetadata } = tcp.spec.controlPlane.ingress ?? {};
  const names = tenantObjects(tcp.metadata.name ?? '');
  return ownedManifest(tcp, {
    apiVersion: apiVersionOf(kind),
    kind: kind.kind,
    name: names.trustdRoute,
    component: 'talos-trustd-traefik-ingressroutetcp',
    labels: additionalMetadata?.labels,
    annotations: additionalMetadata?.annotations,
    body: {
      spec: {
        entryPoints: ['trustd'],
        routes: routesTo(names.service, rules),
        tls: { passthrough: true },
      },
    },
  });
}
