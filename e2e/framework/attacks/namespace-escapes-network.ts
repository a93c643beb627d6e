/** A manifest by which somebody with rights in one namespace tries to reach beyond it. */
export interface NetworkEscape {
  readonly name: string;
  /** Creates it in this namespace. */
  readonly manifest: (namespace: string) => Readonly<Record<string, unknown>>;
  /** A change of the spec that is tried when the object is there; absent where its creation is what is tried. */
  readonly change?: Readonly<Record<string, unknown>>;
  /** Words of the refusal: the field, the reason, and the remedy. */
  readonly words: readonly string[];
  /** The flag by which an administrator makes it possible; absent where none does. */
  readonly flag?: string;
}

/** The network that an administrator gives to tenants in these tests. */
const allowedNetwork = '--allow-external-ips=203.0.113.0/24';
const allowing = (key: string): string => `--allow-annotations=${key}`;

/** What is to be there before the escapes are tried. */
export const preparations = {
  /** A DataStore that takes tenants of no namespace but this one. */
  closedByName: 'closed-by-name',
  /** A DataStore that takes tenants of namespaces with a label that the tried one lacks. */
  closedBySelector: 'closed-by-selector',
  /** A DataStore with driver etcd that takes everybody; its tenants may be moved away from it. */
  open: 'default',
  /** Host name of a control plane in another namespace. */
  takenHost: 'taken.k8s.example.org',
} as const;

type Fields = Readonly<Record<string, unknown>>;

const version = 'v1.36.3';
const service = { serviceType: 'ClusterIP' };

function tenant(name: string, spec: Fields, controlPlane: Fields = {}): NetworkEscape['manifest'] {
  return (namespace) => ({
    apiVersion: 'steward.butlerlabs.dev/v1alpha1',
    kind: 'TenantControlPlane',
    metadata: { name, namespace },
    spec: {
      dataStore: preparations.open,
      kubernetes: { version },
      ...spec,
      controlPlane: { service, ...controlPlane },
    },
  });
}

function controlPlane(name: string, network: Fields, spec: Fields = {}): NetworkEscape['manifest'] {
  return (namespace) => ({
    apiVersion: 'controlplane.cluster.x-k8s.io/v1alpha2',
    kind: 'StewardControlPlane',
    metadata: { name, namespace },
    spec: {
      version,
      replicas: 1,
      registry: 'registry.k8s.io',
      kubelet: { cgroupfs: 'systemd', preferredAddressTypes: ['InternalIP'] },
      ...spec,
      network: { serviceType: 'ClusterIP', ...network },
    },
  });
}

const annotated = (annotations: Readonly<Record<string, string>>): Fields => ({ additionalMetadata: { annotations } });
const onService = (name: string, key: string, value: string): NetworkEscape['manifest'] =>
  tenant(name, {}, { service: { serviceType: 'LoadBalancer', ...annotated({ [key]: value }) } });

const snippet = { 'nginx.ingress.kubernetes.io/server-snippet': 'return 200 owned;' };
const inText = 'adds text to the configuration of a router';

/** Ways out of a namespace through Services, routers, DNS and DataStores. */
export const networkEscapes: readonly NetworkEscape[] = [
  {
    name: 'an external IP',
    manifest: tenant('external-ip', { networkProfile: { address: '203.0.113.7', allowAddressAsExternalIP: true } }),
    words: ['spec.networkProfile.allowAddressAsExternalIP', '203.0.113.7', '--allow-external-ips'],
    flag: allowedNetwork,
  },
  {
    name: 'an external IP in IPv6 form',
    manifest: tenant('external-ip6', {
      networkProfile: { address: '::ffff:203.0.113.7', allowAddressAsExternalIP: true },
    }),
    words: ['spec.networkProfile.allowAddressAsExternalIP', '::ffff:203.0.113.7', '--allow-external-ips'],
    flag: allowedNetwork,
  },
  {
    name: 'an address that kube-vip is to announce',
    manifest: onService('kube-vip', 'kube-vip.io/loadbalancerIPs', '203.0.113.7'),
    words: ['kube-vip.io/loadbalancerIPs', '203.0.113.7', '--allow-external-ips'],
    flag: allowedNetwork,
  },
  {
    name: 'a snippet on a Service',
    manifest: onService('snippet-service', 'nginx.ingress.kubernetes.io/stream-snippet', 'listen 1;'),
    words: ['spec.controlPlane.service.additionalMetadata.annotations', inText, '--allow-annotations='],
    flag: allowing('nginx.ingress.kubernetes.io/stream-snippet'),
  },
  {
    name: 'a snippet on an Ingress',
    manifest: tenant(
      'snippet-ingress',
      {},
      { ingress: { hostname: 'a.k8s.example.org', controllerType: 'nginx', ...annotated(snippet) } },
    ),
    words: ['spec.controlPlane.ingress.additionalMetadata.annotations', inText, '--allow-annotations='],
    flag: allowing('nginx.ingress.kubernetes.io/server-snippet'),
  },
  {
    name: 'a snippet on a route',
    manifest: tenant(
      'snippet-route',
      {},
      { gateway: { hostname: 'b.k8s.example.org', parentRefs: [{ name: 'gateway' }], ...annotated(snippet) } },
    ),
    words: ['spec.controlPlane.gateway.additionalMetadata.annotations', inText, '--allow-annotations='],
  },
  {
    name: 'a Secret of another namespace for a router',
    manifest: tenant(
      'auth-secret',
      {},
      {
        ingress: {
          hostname: 'c.k8s.example.org',
          ...annotated({ 'nginx.ingress.kubernetes.io/auth-tls-secret': 'kube-system/any' }),
        },
      },
    ),
    words: ['auth-tls-secret', 'read Secrets', '--allow-annotations='],
    flag: allowing('nginx.ingress.kubernetes.io/auth-tls-secret'),
  },
  {
    name: 'the DNS name of somebody else',
    manifest: onService('dns-name', 'external-dns.alpha.kubernetes.io/hostname', 'bank.example.org'),
    words: ['external-dns.alpha.kubernetes.io/hostname', 'bank.example.org', 'certSANs'],
  },
  {
    name: 'the DNS name of another control plane, among its own alternative names',
    manifest: tenant(
      'dns-rival',
      { networkProfile: { certSANs: [preparations.takenHost] } },
      {
        service: {
          serviceType: 'LoadBalancer',
          ...annotated({ 'external-dns.alpha.kubernetes.io/hostname': preparations.takenHost }),
        },
      },
    ),
    words: ['external-dns.alpha.kubernetes.io/hostname', 'a TenantControlPlane in another namespace'],
  },
  {
    name: 'the shared address of somebody else',
    manifest: onService('shared-ip', 'metallb.universe.tf/allow-shared-ip', 'guessed'),
    words: ['allow-shared-ip', 'shares the address', '--allow-annotations=metallb.universe.tf/allow-shared-ip'],
    flag: allowing('metallb.universe.tf/allow-shared-ip'),
  },
  {
    name: 'the load balancer of somebody else',
    manifest: onService('balancer-id', 'loadbalancer.openstack.org/load-balancer-id', 'b0a1'),
    words: ['load-balancer-id', 'takes over an existing load balancer', '--allow-annotations='],
    flag: allowing('loadbalancer.openstack.org/load-balancer-id'),
  },
  {
    name: 'an annotation that nobody knows',
    manifest: onService('unknown', 'iam.example.com/role', 'x'),
    words: [
      'service.additionalMetadata.annotations',
      'not in an allowed domain',
      '--allow-annotations=iam.example.com/',
    ],
    flag: allowing('iam.example.com/'),
  },
  {
    name: 'an annotation of the manager',
    manifest: onService('own-annotation', 'steward.butlerlabs.dev/checksum', 'x'),
    words: ['steward.butlerlabs.dev/checksum', 'only the manager may set'],
  },
  {
    name: 'a DataStore for others, by name',
    manifest: tenant('store-name', { dataStore: preparations.closedByName }),
    words: ['spec.dataStore "closed-by-name"', 'accepts no tenants from namespace', 'spec.allowedNamespaces'],
  },
  {
    name: 'a DataStore for others, by labels',
    manifest: tenant('store-selector', { dataStore: preparations.closedBySelector }),
    words: ['spec.dataStore "closed-by-selector"', 'accepts no tenants from namespace', 'spec.allowedNamespaces'],
  },
  {
    name: 'a DataStore for others, for single resources',
    manifest: tenant('store-override', {
      dataStoreOverrides: [{ resource: '/events', dataStore: preparations.closedByName }],
    }),
    words: ['spec.dataStoreOverrides[0].dataStore', 'accepts no tenants from namespace', 'spec.allowedNamespaces'],
  },
  {
    name: 'a move to a DataStore for others',
    manifest: tenant('store-move', {}),
    change: { dataStore: preparations.closedByName },
    words: ['spec.dataStore "closed-by-name"', 'accepts no tenants from namespace', 'spec.allowedNamespaces'],
  },
  {
    name: 'the host name of another control plane',
    manifest: tenant('host-name', {}, { ingress: { hostname: preparations.takenHost } }),
    words: ['spec.controlPlane.ingress.hostname', 'a TenantControlPlane in another namespace', 'use a host name'],
  },
  {
    name: 'a snippet through a StewardControlPlane',
    manifest: controlPlane('scp-snippet', { ingress: { hostname: 'd.k8s.example.org', extraAnnotations: snippet } }),
    words: ['spec.controlPlane.ingress.additionalMetadata.annotations', 'of the TenantControlPlane', inText],
  },
  {
    name: 'a shared address through a StewardControlPlane',
    manifest: controlPlane('scp-shared-ip', { serviceAnnotations: { 'metallb.io/allow-shared-ip': 'guessed' } }),
    words: [
      'spec.controlPlane.service.additionalMetadata.annotations',
      'of the TenantControlPlane',
      'shares the address',
    ],
  },
  {
    name: 'networks of others for pods through a StewardControlPlane',
    manifest: controlPlane(
      'scp-unknown',
      {},
      { deployment: { podAdditionalMetadata: { annotations: { 'k8s.v1.cni.cncf.io/networks': 'other/net' } } } },
    ),
    words: ['podAdditionalMetadata.annotations', 'joins networks', '--allow-annotations=k8s.v1.cni.cncf.io/networks'],
  },
];
