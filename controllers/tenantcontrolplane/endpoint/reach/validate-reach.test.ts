import { describe, expect, test } from '@jest/globals';
import { InvalidInputError } from '../../../../kubeadm/invalid-input-error.ts';
import { parseCidr } from '../../../../kubeadm/networks.ts';
import { publishing } from '../../../../testing/worlds/published-tenant.ts';
import { konnectivityAddon } from '../../../../testing/builders/konnectivity-addon.ts';
import { tenantControlPlaneWith } from '../../../../testing/builders/tenant-control-plane.ts';
import type { TenantControlPlaneChanges } from '../../../../testing/builders/tenant-control-plane.ts';
import { ownNamespaceOnly } from './reach.ts';
import { addons } from '../../addons/registry.ts';
import { serversOf } from '../../shared/addon-server.ts';
import { asksForDnsNames, validateReach } from './validate-reach.ts';
import type { ReachQuestion } from './validate-reach.ts';

const said = (
  changes: TenantControlPlaneChanges,
  old?: TenantControlPlaneChanges,
  beside: Partial<ReachQuestion> = {},
): readonly string[] =>
  validateReach({
    tcp: tenantControlPlaneWith(changes),
    old: old === undefined ? undefined : tenantControlPlaneWith(old),
    reach: ownNamespaceOnly,
    servers: serversOf(addons),
    ...beside,
  }).map((error) => new InvalidInputError(error).message);

const annotated = (annotations: Record<string, string>): TenantControlPlaneChanges => ({
  service: { serviceType: 'LoadBalancer', additionalMetadata: { annotations } },
});
const external = (address: string): TenantControlPlaneChanges => ({
  networkProfile: { address, allowAddressAsExternalIP: true },
});
const snippet = 'nginx.ingress.kubernetes.io/server-snippet';
const hostname = 'external-dns.alpha.kubernetes.io/hostname';

describe('An external IP', () => {
  test('is refused with field, value, reason and fix, unless a flag allows its network', () => {
    expect(said(external('203.0.113.7'))).toEqual([
      'spec.networkProfile.allowAddressAsExternalIP "true" would capture all traffic of the cluster to the external IP 203.0.113.7, but no external IP is allowed: remove the field and use serviceType LoadBalancer, or ask the operator to start the manager with --allow-external-ips=<CIDR>',
    ]);
    const reach = { ...ownNamespaceOnly, externalIps: [parseCidr('203.0.113.0/28', 'test')] };
    expect(said(external('203.0.113.7'), undefined, { reach })).toEqual([]);
    expect(said(external('203.0.113.17'), undefined, { reach })[0]).toContain('only addresses of 203.0.113.0/28');
    expect(said(external('fd00::7'), undefined, { reach })[0]).toContain('the external IP fd00::7');
  });

  test('of a control plane that has it already stays until it changes', () => {
    expect(said(external('203.0.113.7'), external('203.0.113.7'))).toEqual([]);
    expect(said(external('203.0.113.8'), external('203.0.113.7'))).toHaveLength(1);
    const balanced = { ...external('203.0.113.7'), service: { serviceType: 'LoadBalancer' as const } };
    expect(said(balanced)).toEqual([]);
    expect(said(external('203.0.113.7'), balanced)).toHaveLength(1);
  });
});

describe('Annotations', () => {
  const additionalMetadata = { annotations: { [snippet]: 'return 200;' } };

  test.each<[string, TenantControlPlaneChanges]>([
    ['service.additionalMetadata', { service: { serviceType: 'ClusterIP', additionalMetadata } }],
    ['ingress.additionalMetadata', publishing({ ingress: { hostname: 'a.k8s.example.org', additionalMetadata } })],
    ['gateway.additionalMetadata', publishing({ gateway: { hostname: 'a.k8s.example.org', additionalMetadata } })],
    ['deployment.additionalMetadata', { deployment: { additionalMetadata } }],
    ['deployment.podAdditionalMetadata', { deployment: { podAdditionalMetadata: additionalMetadata } }],
  ])('of %s are checked', (field, changes) => {
    expect(said(changes)).toEqual([
      `spec.controlPlane.${field}.annotations["${snippet}"] "return 200;" adds text to the configuration of a router that serves all namespaces, and can read its Secrets: remove it, or ask the operator to allow it with --allow-annotations=${snippet}`,
    ]);
  });

  test('that are stored stay as they are, and are refused when they change', () => {
    const before = annotated({ [snippet]: 'a', 'example.com/x': 'y' });
    expect(said(before, before)).toEqual([]);
    expect(said(annotated({ [snippet]: 'b', 'example.com/x': 'y' }), before)).toHaveLength(1);
    expect(said(annotated({ [snippet]: 'a', constructor: 'z' }), before)).toEqual([]);
  });

  test('with long values are truncated in the message', () => {
    const [message] = said(annotated({ [snippet]: 'x'.repeat(5000) }));
    expect(message).toContain('… (5000 characters)');
    expect(message?.length).toBeLessThan(600);
  });

  test('may request the names of the control plane in DNS, and not those of another', () => {
    const own = publishing({
      ingress: { hostname: 'a.k8s.example.org:443' },
      service: {
        serviceType: 'LoadBalancer',
        additionalMetadata: { annotations: { [hostname]: 'a.k8s.example.org' } },
      },
    });
    expect(said(own)).toEqual([]);
    const service = { additionalMetadata: { annotations: { [hostname]: 'agents.example.org' } } };
    const forAgents = publishing({
      ingress: { hostname: 'a.k8s.example.org' },
      service: { serviceType: 'ClusterIP', ...service },
    });
    const addons = { konnectivity: konnectivityAddon({ server: { hostname: 'agents.example.org' } }) };
    expect(said(forAgents)).toHaveLength(1);
    expect(said({ ...forAgents, spec: { ...forAgents.spec, addons } })).toEqual([]);
    const bySan = { ...annotated({ [hostname]: 'b.example.org' }), networkProfile: { certSANs: ['b.example.org'] } };
    expect(said(bySan)).toEqual([]);
    const other = tenantControlPlaneWith({
      ...publishing({ ingress: { hostname: 'b.example.org' } }),
      metadata: { name: 'bank', namespace: 'elsewhere' },
    });
    expect(said(bySan, undefined, { tenants: [other] })[0]).toContain(
      'requests a DNS name that a TenantControlPlane in another namespace already uses: use a name that no other control plane uses',
    );
    const alsoByDns = tenantControlPlaneWith({ ...bySan, metadata: { name: 'bank', namespace: 'default' } });
    expect(said(bySan, undefined, { tenants: [alsoByDns] })[0]).toContain('that TenantControlPlane bank already uses');
    expect(said(bySan, undefined, { tenants: [tenantControlPlaneWith(bySan)] })).toEqual([]);
  });

  test('about DNS cause a read of other control planes only when they are new', () => {
    const [plain, asking] = [{}, annotated({ [hostname]: 'b.example.org' })].map(tenantControlPlaneWith);
    if (plain === undefined || asking === undefined) throw new Error('two were made');
    expect(asksForDnsNames({ tcp: asking })).toBe(true);
    expect(asksForDnsNames({ tcp: asking, old: plain })).toBe(true);
    expect(asksForDnsNames({ tcp: asking, old: asking })).toBe(false);
    expect(asksForDnsNames({ tcp: plain, old: asking })).toBe(false);
  });
});
