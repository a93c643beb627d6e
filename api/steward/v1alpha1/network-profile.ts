import { loadBalancerFields, networkFields } from '../../embedded/network-fields.ts';
import { bool, described, int32, list, obj, opt, ruled, str } from '../../schema.ts';

/** Networks of a tenant and address of its endpoint. */
export const networkProfile = obj({
  ...networkFields,
  ...loadBalancerFields,
  address: opt(
    described(
      str(),
      'Address of the endpoint. If empty, it is taken from the Service or from a node of the management cluster.',
    ),
  ),
  clusterDomain: opt(
    described(
      ruled(str({ pattern: '.*\\..*' }), {
        rule: 'self == oldSelf',
        message: 'changing the cluster domain is not supported',
      }),
      'DNS domain of Services in the tenant.',
    ),
    'cluster.local',
  ),
  allowAddressAsExternalIP: opt(
    described(
      bool(),
      'Adds the address to the external IPs of a ClusterIP or NodePort Service, if the manager allows it (`--allow-external-ips`).',
    ),
  ),
  port: opt(described(int32(), 'Port of the endpoint, the Service and kube-apiserver.'), 6443),
  serviceCidr: opt(
    described(
      str(),
      'Service network of the tenant, in CIDR notation. For dual-stack, an IPv4 and an IPv6 network, separated by a comma.',
    ),
    '10.96.0.0/16',
  ),
  serviceCidrs: opt(
    described(
      list(str(), { minItems: 1, maxItems: 2 }),
      'Service networks of the tenant, in CIDR notation: one, or one of each IP family. They take precedence over `serviceCidr`.',
    ),
  ),
  podCidr: opt(
    described(
      str(),
      'Pod network of the tenant, in CIDR notation. For dual-stack, an IPv4 and an IPv6 network, separated by a comma.',
    ),
    '10.244.0.0/16',
  ),
  podCidrs: opt(
    described(
      list(str(), { minItems: 1, maxItems: 2 }),
      'Pod networks of the tenant, in CIDR notation: one, or one of each IP family. They take precedence over `podCidr`.',
    ),
  ),
});
