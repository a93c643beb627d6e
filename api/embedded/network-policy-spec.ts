import { described, obj, oneOf, opt } from '../schema.ts';

const direction = oneOf('Restricted', 'Open');

/** What the NetworkPolicy of the control plane pods allows. */
export const networkPolicySpec = obj({
  ingress: opt(
    described(
      direction,
      'Restricted (default): clients reach only the ports of the Service and those that additional containers declare. Open: they reach all ports.',
    ),
  ),
  egress: opt(
    described(
      direction,
      'Restricted (default): the pods reach neither the API server of the management cluster, nor cloud metadata services, nor, if the network plugin can identify them, pods of other control planes. Open: they reach everything.',
    ),
  ),
});
