import { additionalMetadata } from '../../embedded/object-metadata.ts';
import { gatewayHostname, parentReference } from '../../embedded/parent-reference.ts';
import { additionalServicePort, serviceType } from '../../embedded/service-port.ts';
import { described, int32, list, obj, oneOf, opt, str } from '../../schema.ts';
import { networkPolicySpec } from '../../embedded/network-policy-spec.ts';
import { deploymentSpec } from './deployment-spec.ts';

const service = obj({
  additionalMetadata: opt(additionalMetadata),
  additionalPorts: opt(list(additionalServicePort)),
  serviceType,
});

const ingress = obj({
  additionalMetadata: opt(additionalMetadata),
  ingressClassName: opt(str()),
  hostname: opt(described(str(), 'Host name of the endpoint; a port may follow after a colon, else it is 443.')),
  controllerType: opt(
    described(
      oneOf('haproxy', 'nginx', 'traefik', 'generic'),
      'Ingress controller that serves the class: decides how TLS is passed through.',
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
        'Listener of the Gateways for the API server; kube-apiserver when empty.',
      ),
    ),
    port: opt(
      described(
        int32({ minimum: 1, maximum: 65535 }),
        'Port of that listener, which everybody dials; that of the Service when empty.',
      ),
    ),
  },
  {
    rule: '!has(self.parentRefs) || size(self.parentRefs) == 0 || self.parentRefs.all(ref, !has(ref.port) && !has(ref.sectionName))',
    message: 'parentRefs must not specify port or sectionName, these are set automatically by Steward',
  },
);

/** How a control plane runs and how it is reached. */
export const controlPlaneSpec = obj(
  {
    deployment: opt(described(deploymentSpec, 'The pods of the control plane.'), {}),
    service: described(service, 'The Service in front of the pods.'),
    networkPolicy: opt(described(networkPolicySpec, 'Who the pods of the control plane may talk to.')),
    ingress: opt(described(ingress, 'Publishes the endpoint through an Ingress.')),
    gateway: opt(described(gateway, 'Publishes the endpoint through a TLSRoute of the Gateway API.')),
  },
  { rule: '!(has(self.ingress) && has(self.gateway))', message: 'using both ingress and gateway is not supported' },
);
