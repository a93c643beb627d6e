import { additionalMetadata } from '../../embedded/object-metadata.ts';
import { gatewayHostname, parentReference } from '../../embedded/parent-reference.ts';
import { serviceFields, serviceRules } from '../../embedded/service-fields.ts';
import { additionalServicePort, serviceType } from '../../embedded/service-port.ts';
import { described, int32, list, obj, oneOf, opt, str } from '../../schema.ts';
import { networkPolicySpec } from '../../embedded/network-policy-spec.ts';
import { deploymentSpec } from './deployment-spec.ts';

const service = obj(
  {
    additionalMetadata: opt(additionalMetadata),
    additionalPorts: opt(list(additionalServicePort)),
    serviceType,
    ...serviceFields,
  },
  ...serviceRules,
);

const ingress = obj({
  additionalMetadata: opt(additionalMetadata),
  ingressClassName: opt(str()),
  hostname: opt(
    described(str(), 'Host name of the endpoint, optionally followed by a colon and a port. The port defaults to 443.'),
  ),
  controllerType: opt(
    described(
      oneOf('haproxy', 'nginx', 'traefik', 'generic'),
      'Ingress controller that serves the class. Determines how TLS passthrough is configured.',
    ),
  ),
});

const gateway = obj(
  {
    additionalMetadata: opt(additionalMetadata),
    parentRefs: opt(list(parentReference, { maxItems: 32 })),
    hostname: opt(described(gatewayHostname, 'Host name of the endpoint.')),
    sectionName: opt(
      described(
        str({ minLength: 1, maxLength: 253 }),
        'Listener of the Gateways for the API server. Defaults to kube-apiserver.',
      ),
    ),
    port: opt(
      described(
        int32({ minimum: 1, maximum: 65535 }),
        'Port of that listener, to which all clients connect. Defaults to the port of the Service.',
      ),
    ),
  },
  {
    rule: '!has(self.parentRefs) || size(self.parentRefs) == 0 || self.parentRefs.all(ref, !has(ref.port) && !has(ref.sectionName))',
    message: 'parentRefs must not specify port or sectionName, these are set automatically by Steward',
  },
);

/** How a control plane runs and how it is exposed. */
export const controlPlaneSpec = obj(
  {
    deployment: opt(described(deploymentSpec, 'Pods of the control plane.'), {}),
    service: described(service, 'Service in front of the pods.'),
    networkPolicy: opt(
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
  {
    rule: '!(has(self.ingress) && has(self.gateway))',
    message: 'using both ingress and gateway is not supported',
  },
);
