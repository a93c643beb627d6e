import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { parseCidr } from '../../../../kubeadm/networks.ts';
import { annotationProblem } from './validate-annotation.ts';
import { ownNamespaceOnly } from './reach.ts';
import type { Reach } from './reach.ts';
import { usualAnnotations } from './usual-annotations.ts';

const names = new Set(['a.k8s.example.org', 'a.konnectivity.example.org']);
const problem = (key: string, value = 'x', reach: Reach = ownNamespaceOnly): string => {
  const found = annotationProblem({ key, value, names }, reach);
  return found === undefined ? '' : `${found.reason}: ${found.remedy}`;
};
const allowing = (...annotations: string[]): Reach => ({ ...ownNamespaceOnly, annotations });

describe('Annotations', () => {
  test.each([
    'service.beta.kubernetes.io/aws-load-balancer-type',
    'service.beta.kubernetes.io/azure-load-balancer-internal',
    'metallb.io/address-pool',
    'metallb.universe.tf/loadBalancerIPs',
    'lbipam.cilium.io/ips',
    'lbipam.cilium.io/sharing-key',
    'load-balancer.hetzner.cloud/location',
    'kubernetes.io/ingress.class',
    'nginx.ingress.kubernetes.io/ssl-passthrough',
    'nginx.ingress.kubernetes.io/backend-protocol',
    'haproxy.org/ssl-passthrough',
    'traefik.ingress.kubernetes.io/router.entrypoints',
    'external-dns.alpha.kubernetes.io/ttl',
    'prometheus.io/scrape',
    'team',
    'a',
  ])('of load balancers, proxies and tools, and without a domain, are admitted: %s', (key) => {
    expect(problem(key)).toBe('');
  });

  test.each([
    ['nginx.ingress.kubernetes.io/configuration-snippet', 'text to the configuration of a router'],
    ['nginx.ingress.kubernetes.io/server-snippet', 'text to the configuration of a router'],
    ['nginx.ingress.kubernetes.io/stream-snippet', 'text to the configuration of a router'],
    ['nginx.ingress.kubernetes.io/modsecurity-snippet', 'text to the configuration of a router'],
    ['nginx.org/server-snippets', 'text to the configuration of a router'],
    ['haproxy.org/backend-config-snippet', 'text to the configuration of a router'],
    ['haproxy-ingress.github.io/config-backend', 'text to the configuration of a router'],
    ['nginx.ingress.kubernetes.io/auth-url', 'call addresses that only it can reach'],
    ['nginx.ingress.kubernetes.io/auth-tls-secret', 'read Secrets'],
    ['nginx.ingress.kubernetes.io/canary', 'host names of others'],
    ['nginx.ingress.kubernetes.io/server-alias', 'host names of others'],
    ['nginx.ingress.kubernetes.io/mirror-target', 'host names of others'],
    ['traefik.ingress.kubernetes.io/router.middlewares', 'other namespaces'],
    ['metallb.universe.tf/allow-shared-ip', 'shares the address'],
    ['metallb.io/allow-shared-ip', 'shares the address'],
    ['lbipam.cilium.io/sharing-cross-namespace', 'other namespaces'],
    ['io.cilium/lb-ipam-sharing-cross-namespace', 'other namespaces'],
    ['k8s.v1.cni.cncf.io/networks', 'joins networks of other namespaces'],
    ['iam.amazonaws.com/role', 'assumes a role of the whole cloud account'],
    ['loadbalancer.openstack.org/load-balancer-id', 'takes over an existing load balancer'],
    ['kubernetes.digitalocean.com/load-balancer-id', 'takes over an existing load balancer'],
    ['service.beta.kubernetes.io/alibaba-cloud-loadbalancer-id', 'takes over an existing load balancer'],
    ['load-balancer.hetzner.cloud/name', 'takes over an existing load balancer'],
    ['alb.ingress.kubernetes.io/group.name', 'load balancer'],
    ['service.beta.kubernetes.io/aws-load-balancer-eip-allocations', 'the whole cloud account'],
  ])('known to reach beyond the namespace are refused whatever domain is allowed: %s', (key, reason) => {
    const domain = `${key.split('/')[0] ?? ''}/`;
    for (const reach of [ownNamespaceOnly, allowing('*'), allowing(domain)]) {
      expect(problem(key, 'x', reach)).toContain(reason);
      expect(problem(key, 'x', reach)).toContain(`--allow-annotations=${key}`);
    }
    expect(problem(key, 'x', allowing(key))).toBe('');
  });

  test('of any domain are admitted on pods, except those that are known to reach beyond', () => {
    const onPods = (key: string): string | undefined =>
      annotationProblem({ key, value: 'x', names, isOnPods: true }, ownNamespaceOnly)?.reason;
    expect(onPods('example.com/cost')).toBeUndefined();
    expect(onPods('k8s.v1.cni.cncf.io/networks')).toContain('joins networks');
    expect(onPods('steward.butlerlabs.dev/checksum')).toContain('only the manager may set');
  });

  test.each([
    'example.com/owner',
    'cert-manager.io/cluster-issuer',
    'sidecar.istio.io/userVolume',
    'service.beta.kubernetes.io.evil.example/x',
    '/x',
  ])('of other domains are refused, with the flag: %s', (key) => {
    const domain = `${key.split('/')[0] ?? ''}/`;
    expect(problem(key)).toContain('is not in an allowed domain');
    expect(problem(key)).toContain(`--allow-annotations=${domain}`);
    expect(problem(key, 'x', allowing(domain))).toBe('');
    expect(problem(key, 'x', allowing('*'))).toBe('');
  });

  test.each([
    'steward.butlerlabs.dev/checksum',
    'certs.steward.butlerlabs.dev/rotate',
    'kube-apiserver.steward.butlerlabs.dev/args',
  ])('of Steward are reserved for the manager, whatever is allowed: %s', (key) => {
    expect(problem(key, 'x', allowing('*', key))).toContain('only the manager may set');
  });

  test('that a StewardControlPlane passes on are admitted', () => {
    expect(problem('steward.butlerlabs.dev/rollout-after')).toBe('');
  });

  test.each([
    ['a.k8s.example.org', ''],
    ['A.k8s.example.org., a.konnectivity.example.org', ''],
    ['a.k8s.example.org,bank.example.org', 'requests the DNS name bank.example.org'],
    ['*.example.org', 'requests the DNS name *.example.org'],
  ])('for names in DNS are checked by the names: %s', (value, reason) => {
    const said = problem('external-dns.alpha.kubernetes.io/hostname', value);
    expect(said).toContain(reason);
    expect(said === '').toBe(reason === '');
    expect(problem('external-dns.alpha.kubernetes.io/internal-hostname', value) === '').toBe(reason === '');
  });

  test.each([
    ['192.0.2.7', true],
    ['0.0.0.0', true],
    ['192.0.2.7,198.51.100.1', false],
    ['::ffff:192.0.2.7', true],
    ['fd00::1', false],
    ['bank.example.org', false],
  ])('that make every node answer for an address are checked like external IPs: %s', (value, isAllowed) => {
    const reach = { ...ownNamespaceOnly, externalIps: [parseCidr('192.0.2.0/24', 'test')] };
    expect(problem('kube-vip.io/loadbalancerIPs', value, reach) === '').toBe(isAllowed);
    expect(problem('kube-vip.io/loadbalancerIPs', '198.51.100.1', reach)).toContain('--allow-external-ips=<CIDR>');
  });

  test('whose domain only begins or ends like an allowed one are refused', () => {
    const domains = usualAnnotations.filter((entry) => entry.endsWith('/'));
    fc.assert(
      fc.property(fc.constantFrom(...domains), fc.stringMatching(/^[a-z]{1,8}$/), (domain, word) => {
        expect(problem(`${word}-${domain}key`)).toContain('is not in an allowed domain');
        expect(problem(`${domain.slice(0, -1)}.${word}/key`)).toContain('is not in an allowed domain');
      }),
    );
  });
});
