import { gatewayFields, ingressFields, serviceFields, serviceRules } from '../../embedded/network-fields.ts';
import { networkPolicySpec } from '../../embedded/network-policy-spec.ts';
import { additionalMetadata } from '../../embedded/object-metadata.ts';
import { gatewayHostname } from '../../embedded/parent-reference.ts';
import { additionalServicePort } from '../../embedded/service-port.ts';
import { described, list, obj, opt, str } from '../../schema.ts';
import { deploymentSpec } from './deployment-spec.ts';

const service = obj(
  {
    additionalMetadata: opt(described(additionalMetadata, 'Additional labels and annotations of the Service.')),
    additionalPorts: opt(
      described(list(additionalServicePort), 'Ports that the Service has besides those of the control plane.'),
    ),
    ...serviceFields,
  },
  ...serviceRules,
);

const ingress = obj({
  additionalMetadata: opt(
    described(additionalMetadata, 'Additional labels and annotations of the Ingress, or of the IngressRouteTCP.'),
  ),
  ingressClassName: opt(
    described(
      str(),
      'Name of the IngressClass. If empty, the default class of the management cluster serves the Ingress.',
    ),
  ),
  hostname: opt(
    described(str(), 'Host name of the endpoint, optionally followed by a colon and a port. The port defaults to 443.'),
  ),
  ...ingressFields,
});

const gateway = obj(
  {
    additionalMetadata: opt(described(additionalMetadata, 'Additional labels and annotations of the TLSRoute.')),
    ...gatewayFields,
    hostname: opt(described(gatewayHostname, 'Host name of the endpoint.')),
  },
  {
    rule: '!has(self.parentRefs) || size(self.parentRefs) == 0 || self.parentRefs.all(ref, !has(ref.port) && !has(ref.sectionName))',
    message: 'parentRefs must not specify port or sectionName: Steward sets them',
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
