import { described, obj, oneOf, opt } from '../schema.ts';

const direction = oneOf('Restricted', 'Open');

/** What the NetworkPolicy of a control plane's pods allows. */
export const networkPolicySpec = obj({
  ingress: opt(
    described(
      direction,
      'Restricted, the default: others reach the ports of the Service and those that additional containers declare. Open: all ports.',
    ),
  ),
  egress: opt(
    described(
      direction,
      "Restricted, the default: the pods reach neither the management cluster's API server, nor the cloud's metadata, nor, where the network plugin can tell, pods of other control planes. Open: they reach everything.",
    ),
  ),
});
