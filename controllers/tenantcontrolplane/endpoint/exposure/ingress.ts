import type { Manifest } from '../../../../api/meta.ts';
import { tenantObjects } from '../../../../api/names.ts';
import type { TenantControlPlane } from '../../../../api/steward/v1alpha1/tenant-control-plane.ts';
import type { AddonServer } from '../../shared/addon-server.ts';
import { ownedManifest } from '../../shared/owned-manifest.ts';
import { hostRules } from './exposure.ts';
import type { HostRule, Publication, PublishedPorts } from './exposure.ts';
import { apiVersionOf } from '../../../../api/meta.ts';
import { ingressRouteTcp as kind } from '../../../../api/traefik/kinds.ts';

type ControllerType = NonNullable<NonNullable<TenantControlPlane['spec']['controlPlane']['ingress']>['controllerType']>;

/**
 * The annotations that make a controller pass TLS through: clients present their certificates to the API server itself. For
 * `generic`, the author knows them.
 */
const passthrough: Readonly<Record<ControllerType, Readonly<Record<string, string>>>> = {
  haproxy: { 'haproxy.org/ssl-passthrough': 'true' },
  nginx: {
    'nginx.ingress.kubernetes.io/ssl-passthrough': 'true',
    'nginx.ingress.kubernetes.io/backend-protocol': 'HTTPS',
  },
  traefik: {},
  generic: {},
};

/** The Ingress that exposes a control plane, including the `former` rules. The author's annotations win. */
export function ingress(
  tcp: TenantControlPlane,
  publication: Publication,
  to: { readonly ports: PublishedPorts; readonly former?: readonly HostRule[] },
): Manifest {
  const { additionalMetadata, ingressClassName = '', controllerType } = tcp.spec.controlPlane.ingress ?? {};
  const names = tenantObjects(tcp.metadata.name);
  const rules = [...hostRules(publication, to.ports), ...(to.former ?? [])];
  return ownedManifest(tcp, {
    apiVersion: 'networking.k8s.io/v1',
    kind: 'Ingress',
    name: names.ingress,
    component: 'ingress',
    labels: additionalMetadata?.labels,
    annotations: { ...passthrough[controllerType ?? 'generic'], ...additionalMetadata?.annotations },
    body: {
      spec: {
        ...(ingressClassName !== '' && { ingressClassName }),
        rules: rules.map(({ host, port }) => ({
          host,
          http: {
            paths: [
              { path: '/', pathType: 'Prefix', backend: { service: { name: names.service, port: { number: port } } } },
            ],
          },
        })),
        tls: [{ hosts: rules.map(({ host }) => host) }],
      },
    },
  });
}

/** The entry point for TLS in Traefik's usual configuration. */
const entryPoints = ['websecure'];

function routesTo(service: string, rules: readonly HostRule[]): readonly object[] {
  return rules.map(({ host, port }) => ({ match: `HostSNI(\`${host}\`)`, services: [{ name: service, port }] }));
}

/**
 * Traefik's route to a control plane, including the `former` rules. It matches only the tenant's own name: other names are the
 * same for every tenant.
 */
export function ingressRouteTcp(
  tcp: TenantControlPlane,
  publication: Publication,
  to: { readonly ports: PublishedPorts; readonly former?: readonly HostRule[] },
): Manifest {
  const { additionalMetadata } = tcp.spec.controlPlane.ingress ?? {};
  const names = tenantObjects(tcp.metadata.name);
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

/** Traefik's route to a server of an add-on with these rules, through an entry point that has a port of its own. */
export function serverRouteTcp(
  tcp: TenantControlPlane,
  server: AddonServer & { readonly traefik: object },
  rules: readonly HostRule[],
): Manifest {
  const { additionalMetadata } = tcp.spec.controlPlane.ingress ?? {};
  const { name } = tcp.metadata;
  return ownedManifest(tcp, {
    apiVersion: apiVersionOf(kind),
    kind: kind.kind,
    name: server.routeName(name),
    component: server.traefik.component,
    labels: additionalMetadata?.labels,
    annotations: additionalMetadata?.annotations,
    body: {
      spec: {
        entryPoints: [server.traefik.entryPoint],
        routes: routesTo(tenantObjects(name).service, rules),
        tls: { passthrough: true },
      },
    },
  });
}
