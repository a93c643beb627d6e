import { describe, expect, test } from '@jest/globals';
import { tlsRoutes as routeKinds } from '../../../../api/gateway-api/kinds.ts';
import type { TenantControlPlane } from '../../../../api/steward/v1alpha1/tenant-control-plane.ts';
import { InvalidInputError } from '../../../../kubeadm/invalid-input-error.ts';
import { publishedTenant } from '../../../../testing/worlds/published-tenant.ts';
import { konnectivityServer } from '../../addons/konnectivity/konnectivity-server.ts';
import { trustdServer } from '../../addons/worker-bootstrap/trustd-endpoint.ts';
import { ingress, ingressRouteTcp, serverRouteTcp } from './ingress.ts';
import { publicationOf } from './exposure.ts';
import type { Publication, PublishedPorts } from './exposure.ts';
import { tlsRoutes } from './tls-routes.ts';

const [kind] = routeKinds;
if (kind === undefined) throw new Error('there is no kind of route');

const host = 'tenant.k8s.example.org';
const alone: PublishedPorts = { apiServer: 6443, servers: [] };
const withKonnectivity: PublishedPorts = { apiServer: 6443, servers: [{ server: konnectivityServer, port: 8132 }] };
const withAgentsAt = (hostname: string): PublishedPorts => ({
  apiServer: 6443,
  servers: [{ server: konnectivityServer, hostname, port: 8132 }],
});

const publicationFor = (tcp: TenantControlPlane): Publication => {
  const found = publicationOf(tcp, 6443);
  if (found === undefined) throw new Error('it is not published');
  return found;
};

const byIngress = (more: object = {}): TenantControlPlane => publishedTenant({ ingress: { hostname: host, ...more } });

describe('An Ingress', () => {
  const made = (tcp: TenantControlPlane, ports = alone) => ingress(tcp, publicationFor(tcp), { ports });

  test('routes the host name to the Service without TLS termination', () => {
    const { metadata, spec } = made(byIngress({ ingressClassName: 'public' }));
    expect(metadata).toMatchObject({ name: 'tenant', namespace: 'default' });
    expect(metadata.labels).toMatchObject({ 'steward.butlerlabs.dev/component': 'ingress' });
    expect(spec).toEqual({
      ingressClassName: 'public',
      rules: [
        {
          host,
          http: {
            paths: [
              { path: '/', pathType: 'Prefix', backend: { service: { name: 'tenant', port: { number: 6443 } } } },
            ],
          },
        },
      ],
      tls: [{ hosts: [host] }],
    });
  });

  test.each([
    ['haproxy', { 'haproxy.org/ssl-passthrough': 'true' }],
    [
      'nginx',
      {
        'nginx.ingress.kubernetes.io/ssl-passthrough': 'true',
        'nginx.ingress.kubernetes.io/backend-protocol': 'HTTPS',
      },
    ],
    ['generic', undefined],
    [undefined, undefined],
  ])('of type %s passes TLS through', (controllerType, annotations) => {
    expect(made(byIngress({ controllerType })).metadata.annotations).toEqual(annotations);
  });

  test('has the labels and annotations of its author, which override the defaults', () => {
    const additionalMetadata = { labels: { a: 'b' }, annotations: { 'haproxy.org/ssl-passthrough': 'false', c: 'd' } };
    const { metadata } = made(byIngress({ controllerType: 'haproxy', additionalMetadata }));
    expect(metadata.annotations).toEqual(additionalMetadata.annotations);
    expect(metadata.labels).toMatchObject({ a: 'b', 'steward.butlerlabs.dev/name': 'tenant' });
  });

  test('routes konnectivity agents by a separate name, or is refused', () => {
    expect(made(byIngress(), withKonnectivity).spec).toMatchObject({
      rules: [
        { host },
        {
          host: 'tenant.konnectivity.example.org',
          http: { paths: [{ backend: { service: { port: { number: 8132 } } } }] },
        },
      ],
      tls: [{ hosts: [host, 'tenant.konnectivity.example.org'] }],
    });
    expect(() => made(byIngress({ hostname: 'tenant.example.org' }), withKonnectivity)).toThrow(/\.k8s\./);
  });

  test('routes konnectivity agents by the host name that the author gives, unless it is that of the API server', () => {
    const tcp = byIngress({ hostname: 'tenant.example.org' });
    expect(made(tcp, withAgentsAt('agents.example.org')).spec).toMatchObject({
      rules: [
        { host: 'tenant.example.org' },
        { host: 'agents.example.org', http: { paths: [{ backend: { service: { port: { number: 8132 } } } }] } },
      ],
      tls: [{ hosts: ['tenant.example.org', 'agents.example.org'] }],
    });
    expect(() => made(tcp, withAgentsAt('tenant.example.org'))).toThrow(
      'spec.addons.konnectivity.server.hostname "tenant.example.org" is the host name of the control plane itself',
    );
  });

  test('does not contain the port that clients use', () => {
    expect(made(byIngress({ hostname: `${host}:8443` })).spec).toMatchObject({
      rules: [{ host }],
      tls: [{ hosts: [host] }],
    });
  });
});

describe('A route of Traefik', () => {
  const tcp = byIngress({ controllerType: 'traefik', additionalMetadata: { annotations: { a: 'b' } } });
  const made = (ports: PublishedPorts) => ingressRouteTcp(tcp, publicationFor(tcp), { ports });

  test('matches only the tenant’s name, and passes TLS through', () => {
    expect(publicationFor(tcp).by).toBe('IngressRouteTCP');
    const { metadata, spec } = made(alone);
    expect(metadata).toMatchObject({ name: 'tenant', annotations: { a: 'b' } });
    expect(spec).toEqual({
      entryPoints: ['websecure'],
      routes: [{ match: `HostSNI(\`${host}\`)`, services: [{ name: 'tenant', port: 6443 }] }],
      tls: { passthrough: true },
    });
  });

  test('has a separate route for the agents of konnectivity', () => {
    expect(made(withKonnectivity).spec).toMatchObject({
      routes: [
        { services: [{ port: 6443 }] },
        { match: 'HostSNI(`tenant.konnectivity.example.org`)', services: [{ name: 'tenant', port: 8132 }] },
      ],
    });
    expect(made(withAgentsAt('agents.example.org')).spec).toMatchObject({
      routes: [{ services: [{ port: 6443 }] }, { match: 'HostSNI(`agents.example.org`)' }],
    });
  });
});

describe('Routes of Gateway API', () => {
  const parent = { group: 'gateway.networking.k8s.io', kind: 'Gateway', name: 'gw', namespace: 'infra' };
  const byGateway = (hostname: string): TenantControlPlane =>
    publishedTenant({
      gateway: { hostname, parentRefs: [parent], additionalMetadata: { labels: { a: 'b' }, annotations: { c: 'd' } } },
    });
  const made = (hostname: string, ports: PublishedPorts) => {
    const tcp = byGateway(hostname);
    return tlsRoutes(tcp, publicationFor(tcp), { ports, kind });
  };

  test('attach to the listener kube-apiserver on the port of the Service', () => {
    const routes = made('tenant.example.org', { apiServer: 7443, servers: [] });
    expect(routes).toMatchObject([
      {
        apiVersion: 'gateway.networking.k8s.io/v1',
        kind: 'TLSRoute',
        metadata: { name: 'tenant', labels: { a: 'b' }, annotations: { c: 'd' } },
      },
    ]);
    expect(routes[0]?.spec).toEqual({
      parentRefs: [{ ...parent, port: 7443, sectionName: 'kube-apiserver' }],
      hostnames: ['tenant.example.org'],
      rules: [{ backendRefs: [{ name: 'tenant', port: 7443 }] }],
    });
  });

  test('attach to the listener and port that the author names, and forward to the port of the Service', () => {
    const tcp = publishedTenant({ gateway: { hostname: host, parentRefs: [parent], sectionName: 'tls', port: 443 } });
    const publication = publicationFor(tcp);
    expect(publication).toMatchObject({ by: 'TLSRoute', port: 443 });
    const [own, agents] = tlsRoutes(tcp, publication, { ports: withKonnectivity, kind });
    expect(own?.spec).toMatchObject({
      parentRefs: [{ ...parent, port: 443, sectionName: 'tls' }],
      rules: [{ backendRefs: [{ name: 'tenant', port: withKonnectivity.apiServer }] }],
    });
    expect(agents?.spec).toMatchObject({ parentRefs: [{ port: 8132, sectionName: 'konnectivity-server' }] });
  });

  test('name port and listener themselves, even if those bypassed the rule that denies both to the author', () => {
    const named = { ...parent, port: 1, sectionName: 'x' };
    const tcp = publishedTenant({ gateway: { hostname: host, parentRefs: [named] } });
    expect(tlsRoutes(tcp, publicationFor(tcp), { ports: alone, kind })[0]?.spec).toMatchObject({
      parentRefs: [{ ...parent, port: 6443, sectionName: 'kube-apiserver' }],
    });
  });

  test('of konnectivity attach to a separate listener, under the same name if that has no part .k8s.', () => {
    expect(made('tenant.example.org', withKonnectivity)[1]).toMatchObject({
      metadata: { name: 'tenant-konnectivity' },
      spec: {
        parentRefs: [{ name: 'gw', port: 8132, sectionName: 'konnectivity-server' }],
        hostnames: ['tenant.example.org'],
        rules: [{ backendRefs: [{ name: 'tenant', port: 8132 }] }],
      },
    });
    expect(made(host, withKonnectivity)[1]).toMatchObject({ spec: { hostnames: ['tenant.konnectivity.example.org'] } });
    const [own, agents] = made(host, withAgentsAt('agents.example.org'));
    expect([own, agents]).toMatchObject([
      { spec: { hostnames: [host] } },
      { spec: { hostnames: ['agents.example.org'] } },
    ]);
  });
});

describe('The route to trustd', () => {
  const { traefik } = trustdServer;
  if (traefik === undefined) throw new Error('trustd has no entry point');
  const ports = { ...alone, servers: [...withKonnectivity.servers, { server: trustdServer, port: 50001 }] };

  test('is a separate listener of a Gateway, with the name of the control plane', () => {
    const tcp = publishedTenant({
      gateway: { hostname: host, parentRefs: [{ name: 'gw', kind: 'Gateway', group: 'x' }] },
    });
    const routes = tlsRoutes(tcp, publicationFor(tcp), { ports, kind });
    expect(routes.map(({ metadata }) => metadata.name)).toEqual(['tenant', 'tenant-konnectivity', 'tenant-trustd']);
    expect(routes[2]?.spec).toEqual({
      parentRefs: [{ name: 'gw', kind: 'Gateway', group: 'x', port: 50001, sectionName: 'steward-trustd' }],
      hostnames: [host],
      rules: [{ backendRefs: [{ name: 'tenant', port: 50001 }] }],
    });
  });

  test('is a separate entry point of Traefik', () => {
    const tcp = publishedTenant({ ingress: { hostname: host, controllerType: 'traefik' } });
    const route = serverRouteTcp(tcp, { ...trustdServer, traefik }, [{ host: publicationFor(tcp).host, port: 50001 }]);
    expect(route.metadata.name).toBe('tenant-trustd');
    expect(route.spec).toEqual({
      entryPoints: ['trustd'],
      routes: [{ match: `HostSNI(\`${host}\`)`, services: [{ name: 'tenant', port: 50001 }] }],
      tls: { passthrough: true },
    });
  });
});

describe('A host name', () => {
  test.each<[string, Parameters<typeof publishedTenant>[0]]>([
    ['that is missing', { ingress: {} }],
    ['that is empty', { ingress: { hostname: '' } }],
    ['that is an address', { ingress: { hostname: '192.0.2.1' } }],
    ['that is an address with a port', { ingress: { hostname: '192.0.2.1:443' } }],
    ['with capitals', { ingress: { hostname: 'A.example.org' } }],
    ['with a port that is none', { ingress: { hostname: 'a.example.org:70000' } }],
    ['that stands for many', { gateway: { hostname: '*.example.org' } }],
    ['that a Gateway does not get', { gateway: {} }],
  ])('%s is refused with its field', (_words, controlPlane) => {
    const field = `spec.controlPlane.${'ingress' in controlPlane ? 'ingress' : 'gateway'}.hostname`;
    let refused: unknown;
    try {
      publicationOf(publishedTenant(controlPlane), 6443);
    } catch (error) {
      refused = error;
    }
    expect(refused).toBeInstanceOf(InvalidInputError);
    expect((refused as InvalidInputError).input.field).toBe(field);
  });

  test('is not required if only a Service is wanted', () => {
    expect(publicationOf(publishedTenant({}), 6443)).toBeUndefined();
  });
});
