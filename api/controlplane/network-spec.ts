import { parentReference } from '../embedded/parent-reference.ts';
import { additionalServicePort, serviceType } from '../embedded/service-port.ts';
import { networkPolicySpec } from '../embedded/network-policy-spec.ts';
import type { CelRule } from '../schema.ts';
import { described, int32, list, map, obj, oneOf, opt, ruled, str } from '../schema.ts';

const loadBalancerConfig = obj({
  loadBalancerClass: opt(
    described(
      ruled(str({ minLength: 1 }), { rule: 'self == oldSelf', message: 'LoadBalancerClass is immutable' }),
      'Implementation of the load balancer.',
    ),
  ),
  loadBalancerSourceRanges: opt(
    described(list(str()), 'Networks, in CIDR notation, that may reach the load balancer.'),
  ),
});

const published = {
  extraLabels: opt(map(str())),
  extraAnnotations: opt(map(str())),
} as const;

const ingress = obj({
  className: opt(str()),
  hostname: described(str({ minLength: 1 }), 'Host name of the endpoint; a port may follow after a colon, else 443.'),
  controllerType: opt(
    described(
      oneOf('haproxy', 'nginx', 'traefik', 'generic'),
      'Ingress controller that serves the class: decides how TLS is passed through.',
    ),
  ),
  ...published,
});

/** Two ways to name Gateways: a list, or one by name and namespace. */
const gateway = obj(
  {
    parentRefs: opt(described(list(parentReference, { maxItems: 32 }), 'Gateways that serve the endpoint.')),
    name: opt(described(str(), 'Name of the Gateway, when there is one only.')),
    namespace: opt(described(str(), 'Namespace of the Gateway named by `name`.')),
    sectionName: opt(
      described(
        str({ minLength: 1, maxLength: 253 }),
        'Listener of the Gateways for the API server; kube-apiserver when empty.',
      ),
    ),
    port: opt(
      described(
        int32({ minimum: 1, maximum: 65535 }),
        'Port of that listener, which everybody dials; that of the Service when empty.',
      ),
    ),
    hostname: described(str(), 'Host name of the endpoint.'),
    ...published,
  },
  {
    rule: '!(has(self.parentRefs) && size(self.parentRefs) > 0 && has(self.name))',
    message: 'name one Gateway by name and namespace, or several by parentRefs, but not both',
  },
  {
    rule: 'has(self.name) == has(self.namespace)',
    message: 'name and namespace of a Gateway belong together: set both, or use parentRefs',
  },
);

const ranges = 'self.loadBalancerConfig.loadBalancerSourceRanges';
const has = (object: string): string =>
  `(has(${object}.loadBalancerConfig) && has(${object}.loadBalancerConfig.loadBalancerClass))`;

const rules: readonly CelRule[] = [
  {
    rule: `!has(self.loadBalancerConfig) || !has(${ranges}) || size(${ranges}) == 0 || self.serviceType == 'LoadBalancer'`,
    message: 'LoadBalancer source ranges are supported only with LoadBalancer service type',
  },
  {
    rule: `!${has('self')} || self.serviceType == 'LoadBalancer'`,
    message: 'LoadBalancerClass is supported only with LoadBalancer service type',
  },
  {
    // Presence is checked first: adding loadBalancerConfig to an existing object is no evaluation error.
    rule: `self.serviceType != 'LoadBalancer' || oldSelf.serviceType != 'LoadBalancer' || ${has('self')} == ${has('oldSelf')}`,
    message: 'LoadBalancerClass cannot be set or unset at runtime',
  },
  { rule: '!(has(self.ingress) && has(self.gateway))', message: 'using both ingress and gateway is not supported' },
];

/** How the API server of a StewardControlPlane is reached. */
export const networkSpec = obj(
  {
    serviceType: opt(serviceType, 'LoadBalancer'),
    serviceAddress: opt(described(str(), 'Static address: of the load balancer, of a node, or a virtual one.')),
    advertiseAddress: opt(
      described(
        str(),
        'Address under which workers and users reach the endpoint, where it is not that of the Service. Cluster API then gets a kubeconfig that leads to the Service.',
      ),
    ),
    additionalServicePorts: opt(described(list(additionalServicePort), 'Further ports of the Service.')),
    serviceLabels: opt(map(str())),
    serviceAnnotations: opt(map(str())),
    certSANs: opt(
      described(list(str()), 'Further names and addresses in the certificate of kube-apiserver, without ports.'),
    ),
    dnsServiceIPs: opt(
      described(list(str()), 'Addresses of the DNS service; the tenth of the service network when empty.'),
    ),
    loadBalancerConfig: opt(loadBalancerConfig),
    policy: opt(described(networkPolicySpec, 'Who the pods of the control plane may talk to.')),
    ingress: opt(described(ingress, 'Publishes the endpoint through an Ingress.')),
    gateway: opt(described(gateway, 'Publishes the endpoint through a TLSRoute of the Gateway API.')),
  },
  ...rules,
);
