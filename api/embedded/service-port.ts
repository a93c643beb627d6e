import { described, int32, intOrString, obj, oneOf, opt, str } from '../schema.ts';

/** An additional port of the Service of a control plane. */
export const additionalServicePort = obj({
  name: described(str(), 'Name of the port. Must be unique in the Service.'),
  protocol: opt(described(oneOf('TCP', 'UDP', 'SCTP'), 'Transport protocol of the port.'), 'TCP'),
  appProtocol: opt(described(str(), 'Application protocol, for proxies that use it.')),
  port: described(int32(), 'Port of the Service.'),
  targetPort: described(intOrString(), 'Port of the pods, by number or name.'),
});
