import type { CelRule } from '../schema.ts';
import { bool, described, int32, list, oneOf, opt, ruled, str } from '../schema.ts';
import { gatewayParent } from './parent-reference.ts';

/** The network of a control plane: `spec.networkProfile` and `spec.network`. */
export const networkFields = {
  advertiseAddress: opt(
    described(
      str(),
      'Address at which workers and users reach the control plane, if it differs from that of the Service, e.g. behind NAT. Takes precedence over `address`, in a StewardControlPlane over `serviceAddress`. The kubeconfig that a StewardControlPlane gives Cluster API then points to the Service.',
    ),
  ),
  certSANs: opt(
    described(
      list(str()),
      'Additional SANs of the serving certificate of kube-apiserver: names and addresses, without ports.',
    ),
  ),
  dnsServiceIPs: opt(
    described(list(str()), 'Addresses of the DNS Service. Defaults to the tenth address of the service network.'),
  ),
} as const;

/** The load balancer: `spec.networkProfile` and `spec.network.loadBalancerConfig`. */
export const loadBalancerFields = {
  loadBalancerClass: opt(
    described(
      ruled(str({ minLength: 1 }), { rule: 'self == oldSelf', message: 'LoadBalancerClass is immutable' }),
      'Class of the load balancer implementation.',
    ),
  ),
  loadBalancerSourceRanges: opt(
    described(list(str()), 'Networks, in CIDR notation, from which clients may connect to the load balancer.'),
  ),
} as const;

/** Fields of the Service of a control plane that go to it as they are. */
export const passedToService = {
  allocateLoadBalancerNodePorts: opt(
    described(bool(), 'Whether a LoadBalancer Service gets node ports. Defaults to true, as in Kubernetes.'),
  ),
  externalTrafficPolicy: opt(
    described(
      oneOf('Cluster', 'Local'),
      'Which pods connections from outside go to. `Local`: only pods on the same node, and client addresses are preserved.',
    ),
  ),
  internalTrafficPolicy: opt(
    described(oneOf('Cluster', 'Local'), 'Which pods connections from inside the management cluster go to.'),
  ),
  ipFamilyPolicy: opt(
    described(
      oneOf('SingleStack', 'PreferDualStack', 'RequireDualStack'),
      'Whether the Service has addresses of one or both IP families.',
    ),
  ),
  ipFamilies: opt(
    described(
      ruled(
        list(oneOf('IPv4', 'IPv6'), { minItems: 1, maxItems: 2 }),
        {
          rule: 'size(self) < 2 || self[0] != self[1]',
          message: 'ipFamilies has the same family twice: remove one',
        },
        { rule: 'self[0] == oldSelf[0]', message: 'the first of ipFamilies cannot be changed' },
      ),
      'IP families of the Service, the first of which cannot be changed.',
    ),
  ),
} as const;

/** The Service: `spec.controlPlane.service` and `spec.network`. */
export const serviceFields = {
  serviceType: described(
    oneOf('ClusterIP', 'NodePort', 'LoadBalancer'),
    'Whether clients reach the Service in the management cluster (ClusterIP), at a port of every node (NodePort), or at a load balancer.',
  ),
  ...passedToService,
} as const;

/** Rules for `serviceFields` . */
export const serviceRules: readonly CelRule[] = [
  {
    rule: "!has(self.allocateLoadBalancerNodePorts) || self.serviceType == 'LoadBalancer'",
    message: 'allocateLoadBalancerNodePorts is supported only with LoadBalancer service type',
  },
  {
    rule: "!has(self.ipFamilies) || size(self.ipFamilies) < 2 || (has(self.ipFamilyPolicy) && self.ipFamilyPolicy != 'SingleStack')",
    message: 'two ipFamilies need the ipFamilyPolicy PreferDualStack or RequireDualStack',
  },
  {
    rule: "!has(self.externalTrafficPolicy) || self.serviceType != 'ClusterIP'",
    message: 'externalTrafficPolicy is supported only with NodePort and LoadBalancer service types',
  },
];

/** The Ingress: `spec.controlPlane.ingress` and `spec.network.ingress`. */
export const ingressFields = {
  controllerType: opt(
    described(
      oneOf('haproxy', 'nginx', 'traefik', 'generic'),
      'Ingress controller that serves the class. Determines how TLS passthrough is configured.',
    ),
  ),
} as const;

/** The route to Gateways: `spec.controlPlane.gateway` and `spec.network.gateway`. */
export const gatewayFields = {
  parentRefs: opt(described(list(gatewayParent, { maxItems: 32 }), 'Gateways that serve the endpoint.')),
  sectionName: opt(
    described(
      str({ minLength: 1, maxLength: 253 }),
      'Listener of the Gateways for the API server. Defaults to kube-apiserver.',
    ),
  ),
  port: opt(
    described(
      int32({ minimum: 1, maximum: 65535 }),
      'Port of the listener `sectionName`, to which all clients connect. Defaults to the port of the Service.',
    ),
  ),
} as const;
