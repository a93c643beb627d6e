import type { CelRule } from '../schema.ts';
import { bool, described, list, oneOf, opt, ruled } from '../schema.ts';

/** Fields of the Service of a control plane that go to it as they are. */
export const serviceFields = {
  allocateLoadBalancerNodePorts: opt(
    described(bool(), 'Whether a LoadBalancer Service gets node ports. Defaults to true, as in Kubernetes.'),
  ),
  externalTrafficPolicy: opt(
    described(
      oneOf('Cluster', 'Local'),
      'Which pods connections from outside go to. `Local`: only pods of the same node, and client addresses are preserved.',
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
      ruled(list(oneOf('IPv4', 'IPv6'), { minItems: 1, maxItems: 2 }), {
        rule: 'size(self) < 2 || self[0] != self[1]',
        message: 'ipFamilies has the same family twice: remove one',
      }),
      'IP families of the Service, the first of which cannot be changed.',
    ),
  ),
} as const;

/** Rules for `serviceFields` in an object with a `serviceType`. */
export const serviceRules: readonly CelRule[] = [
  {
    rule: "!has(self.allocateLoadBalancerNodePorts) || self.serviceType == 'LoadBalancer'",
    message: 'allocateLoadBalancerNodePorts is supported only with LoadBalancer service type',
  },
  {
    rule: "!has(self.externalTrafficPolicy) || self.serviceType != 'ClusterIP'",
    message: 'externalTrafficPolicy is supported only with NodePort and LoadBalancer service types',
  },
];
