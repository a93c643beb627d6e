import {
  gatewayFields,
  ingressFields,
  loadBalancerFields,
  networkFields,
  serviceFields,
  serviceRules,
} from '../embedded/network-fields.ts';
import { networkPolicySpec } from '../embedded/network-policy-spec.ts';
import { additionalServicePort } from '../embedded/service-port.ts';
import type { CelRule } from '../schema.ts';
import { described, list, map, obj, opt, str } from '../schema.ts';

const loadBalancerConfig = obj(loadBalancerFields);

const published = {
  extraLabels: opt(described(map(str()), 'Additional labels of the route.')),
  extraAnnotations: opt(described(map(str()), 'Additional annotations of the route.')),
} as const;

const ingress = obj({
  className: opt(
    described(
      str(),
      'Name of the IngressClass. If empty, the default class of the management cluster serves the Ingress.',
    ),
  ),
  hostname: described(
    str({ minLength: 1 }),
    'Host name of the endpoint, optionally followed by a colon and a port. The port defaults to 443.',
  ),
  ...ingressFields,
  ...published,
});

/** Gateways are named in one of two ways: as a list, or a single one by name and namespace. */
const gateway = obj(
  {
    ...gatewayFields,
    name: opt(described(str(), 'Name of the Gateway, if there is only one.')),
    namespace: opt(described(str(), 'Namespace of the Gateway named by `name`.')),
    hostname: described(str(), 'Host name of the endpoint.'),
    ...published,
  },
  {
    rule: '!(has(self.parentRefs) && size(self.parentRefs) > 0 && has(self.name))',
    message:
      'parentRefs and name are mutually exclusive: set name and namespace for one Gateway, or parentRefs for several',
  },
  {
    rule: 'has(self.name) == has(self.namespace)',
    message: 'name and namespace must be set together: set both, or use parentRefs',
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
    // Presence is checked first, so that adding loadBalancerConfig to an existing object is not an evaluation error.
    rule: `self.serviceType != 'LoadBalancer' || oldSelf.serviceType != 'LoadBalancer' || ${has('self')} == ${has('oldSelf')}`,
    message: 'LoadBalancerClass cannot be set or unset at runtime',
  },
  {
    rule: '!(has(self.ingress) && has(self.gateway))',
    message: 'using both ingress and gateway is not supported',
  },
];

/** How the API server of a StewardControlPlane is exposed. */
export const networkSpec = obj(
  {
    ...serviceFields,
    serviceType: opt(serviceFields.serviceType, 'LoadBalancer'),
    ...networkFields,
    serviceAddress: opt(described(str(), 'Static address of the load balancer or of a node, or a virtual IP.')),
    additionalServicePorts: opt(
      described(list(additionalServicePort), 'Ports that the Service has besides those of the control plane.'),
    ),
    serviceLabels: opt(described(map(str()), 'Additional labels of the Service.')),
    serviceAnnotations: opt(described(map(str()), 'Additional annotations of the Service.')),
    loadBalancerConfig: opt(
      described(loadBalancerConfig, 'Settings of the load balancer, with `serviceType: LoadBalancer`.'),
    ),
    policy: opt(
      described(networkPolicySpec, 'Which connections to and from the control plane pods the NetworkPolicy allows.'),
    ),
    ingress: opt(
      described(
        ingress,
        'Exposes the endpoint through an Ingress, or through an IngressRouteTCP if `controllerType` is traefik.',
      ),
    ),
    gateway: opt(described(gateway, 'Exposes the endpoint through a TLSRoute of the Gateway API.')),
  },
  ...rules,
  ...serviceRules,
);
