import type { Manifest } from '../../../api/meta.ts';
import { tenantObjects } from '../../../api/names.ts';
import type { TenantControlPlane } from '../../../api/steward/v1alpha1/tenant-control-plane.ts';
import { ownedManifest } from './owned-manifest.ts';
import { hostRules } from './publication.ts';
import type { HostRule, Publication, PublishedPorts } from './publication.ts';

type ControllerType = NonNullable<NonNullable<TenantControlPlane['spec']['controlPlane']['ingress']>['controllerType']>;

/**
 * What makes a controller hand TLS through untouched: clients show their certificates to the API server itself. Of `generic`
 * ones the author knows it.
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

/** The Ingress that publishes a control plane, by `former` rules too. The author's annotations win. */
export function ingress(
  tcp: TenantControlPlane,
  publication: Publication,
  to: { readonly ports: PublishedPorts; readonly former?: readonly HostRule[] },
): Manifest {
  const { additionalMetadata, ingressClassName = '', controllerType } = tcp.spec.controlPlane.ingress ?? {};
  const names = tenantObjects(tcp.metadata.name ?? '');
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
