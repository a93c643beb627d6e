import { described, int32, intOrString, obj, oneOf, opt, str } from '../schema.ts';

/** A further port of the Service of a control plane. */
export const additionalServicePort = obj({
  name: described(str(), 'Name of the port, unique in the Service.'),
  protocol: opt(oneOf('TCP', 'UDP', 'SCTP'), 'TCP'),
  appProtocol: opt(described(str(), 'Protocol of the application, for proxies that care.')),
  port: described(int32(), 'Port of the Service.'),
  targetPort: described(intOrString(), 'Port of the pods, by number or by name.'),
});

/** How the Service of a control plane is published. */
export const serviceType = oneOf('ClusterIP', 'NodePort', 'LoadBalancer');
