import { describe, expect, test } from '@jest/globals';
import type { InvalidInput } from '../../../../kubeadm/invalid-input-error.ts';
import { konnectivityAddon } from '../../../../testing/builders/konnectivity-addon.ts';
import { publishedTenant } from '../../../../testing/worlds/published-tenant.ts';
import type { PublishedBy } from '../../../../testing/worlds/published-tenant.ts';
import type { TenantControlPlane } from '../../../../api/steward/v1alpha1/tenant-control-plane.ts';
import { addons } from '../../addons/registry.ts';
import { serversOf } from '../../shared/addon-server.ts';
import { asksForHost, validatePublication } from './validate-exposure.ts';
import type { GatewayApi } from './validate-exposure.ts';

const servers = serversOf(addons);
const parent = { group: 'gateway.networking.k8s.io', kind: 'Gateway', name: 'gw' };
const elsewhere = { ...parent, namespace: 'infra' };
const host = 'tenant.k8s.example.org';
const gateway = (changes: object = {}): PublishedBy => ({
  gateway: { hostname: host, parentRefs: [parent], ...changes },
});

function withKonnectivity(tcp: TenantControlPlane, hostname?: string): TenantControlPlane {
  const server = hostname === undefined ? {} : { hostname };
  return { ...tcp, spec: { ...tcp.spec, addons: { konnectivity: konnectivityAddon({ server }) } } };
}

const fields = (errors: readonly InvalidInput[]): readonly string[] => errors.map(({ field }) => field);

describe('An exposure', () => {
  test.each<[string, PublishedBy, readonly string[]]>([
    ['that is none', {}, []],
    ['by an Ingress', { ingress: { hostname: host } }, []],
    ['by an Ingress with a port', { ingress: { hostname: `${host}:8443` } }, []],
    ['by a Gateway', gateway(), []],
    ['by Gateways of one name in two namespaces', gateway({ parentRefs: [parent, elsewhere] }), []],
    ['without a host name', { ingress: {} }, ['spec.controlPlane.ingress.hostname']],
    ['by an address', { ingress: { hostname: '192.0.2.1' } }, ['spec.controlPlane.ingress.hostname']],
    ['by a name for many', gateway({ hostname: '*.example.org' }), ['spec.controlPlane.gateway.hostname']],
    [
      'by no Gateway and no name',
      { gateway: {} },
      ['spec.controlPlane.gateway.hostname', 'spec.controlPlane.gateway.parentRefs'],
    ],
    [
      'by one Gateway twice',
      gateway({ parentRefs: [parent, { ...parent, namespace: 'default' }] }),
      ['spec.controlPlane.gateway.parentRefs'],
    ],
  ])('%s is refused if it cannot work', (_words, by, expected) => {
    const errors = validatePublication({ tcp: publishedTenant(by), servers });
    expect(fields(errors)).toEqual(expected);
    for (const { reason, remedy } of errors) expect([reason, remedy].every((text) => text.length > 5)).toBe(true);
  });

  test.each<[string, PublishedBy, boolean]>([
    ['an Ingress', { ingress: { hostname: 'tenant.example.org' } }, true],
    ['an Ingress whose host name yields another one for the agents', { ingress: { hostname: host } }, false],
    ['a Gateway, which has listeners for both', gateway({ hostname: 'tenant.example.org' }), false],
  ])('with one port needs a separate name for konnectivity: %s', (_words, by, refused) => {
    const errors = validatePublication({ tcp: withKonnectivity(publishedTenant(by)), servers });
    expect(fields(errors)).toEqual(refused ? ['spec.controlPlane.ingress.hostname'] : []);
  });

  const agentsField = 'spec.addons.konnectivity.server.hostname';
  const agents = 'agents.example.org';

  test.each<[string, PublishedBy, string, readonly string[]]>([
    ['an Ingress under any name', { ingress: { hostname: 'tenant.example.org' } }, agents, []],
    ['Traefik', { ingress: { hostname: 'tenant.example.org', controllerType: 'traefik' } }, agents, []],
    ['a Gateway', gateway(), agents, []],
    ['an Ingress of the same name', { ingress: { hostname: `${agents}:8443` } }, agents, [agentsField]],
    ['a Gateway of the same name', gateway({ hostname: agents }), agents, [agentsField]],
  ])(
    'has the name for konnectivity that the author gives, unless it is its own: %s',
    (_words, by, hostname, expected) => {
      const errors = validatePublication({ tcp: withKonnectivity(publishedTenant(by), hostname), servers });
      expect(fields(errors)).toEqual(expected);
    },
  );

  test('does not give konnectivity the name that workers and users still dial', () => {
    const tcp = withKonnectivity(publishedTenant({ ingress: { hostname: host } }), agents);
    const errors = (controlPlaneEndpoint: string): readonly string[] =>
      fields(validatePublication({ tcp: { ...tcp, status: { controlPlaneEndpoint } }, servers }));
    expect(errors(`${agents}:443`)).toEqual([agentsField]);
    expect(errors(`${host}:443`)).toEqual([]);
  });

  test('does not give konnectivity a name that another control plane has', () => {
    const tcp = withKonnectivity(publishedTenant({ ingress: { hostname: host } }), agents);
    const rival = publishedTenant({ ingress: { hostname: agents } });
    const tenants = [tcp, { ...rival, metadata: { ...rival.metadata, name: 'rival' } }];
    expect(validatePublication({ tcp, servers, tenants })).toEqual([
      {
        field: agentsField,
        value: agents,
        reason: 'is already used by TenantControlPlane rival, and routers route by host name',
        remedy: 'use a host name that no other control plane uses',
      },
    ]);
    expect(asksForHost({ tcp, old: withKonnectivity(publishedTenant({ ingress: { hostname: host } })), servers })).toBe(
      true,
    );
    expect(asksForHost({ tcp, old: tcp, servers })).toBe(false);
  });

  test.each<[string, GatewayApi | undefined, PublishedBy | undefined, string]>([
    ['has everything', 'complete', undefined, ''],
    ['could not be queried', undefined, undefined, ''],
    ['has no Gateway API', 'absent', undefined, 'the Gateway API is not available in this cluster'],
    ['has no routes', 'without TLSRoute', undefined, 'the TLSRoute resource is not available in this cluster'],
    ['lost it after the object was made', 'absent', gateway(), ''],
    ['lost it before a Gateway was requested', 'absent', {}, 'the Gateway API is not available in this cluster'],
  ])('by a Gateway depends on whether the cluster %s', (_words, gatewayApi, before, reason) => {
    const old = before === undefined ? undefined : publishedTenant(before);
    const errors = validatePublication({ tcp: publishedTenant(gateway()), old, gatewayApi, servers });
    expect(errors.map((error) => error.reason).join()).toContain(reason);
    expect(errors).toHaveLength(reason === '' ? 0 : 1);
  });
});
