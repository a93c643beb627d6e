import { bool, described, int32, list, obj, opt, ruled, str } from '../../schema.ts';

/** The networks of a tenant and the address of its endpoint. */
export const networkProfile = obj({
  loadBalancerSourceRanges: opt(
    described(list(str()), 'Networks, in CIDR notation, that may reach the load balancer.'),
  ),
  loadBalancerClass: opt(
    described(
      ruled(str({ minLength: 1 }), { rule: 'self == oldSelf', message: 'LoadBalancerClass is immutable' }),
      'Implementation of the load balancer.',
    ),
  ),
  address: opt(
    described(str(), 'Address of the endpoint; empty lets the Service or a node of the cluster provide it.'),
  ),
  advertiseAddress: opt(
    described(
      str(),
      'Address under which workers and users reach the endpoint, where it is not that of the Service: behind a translation of addresses, for example.',
    ),
  ),
  clusterDomain: opt(
    described(
      ruled(str({ pattern: '.*\\..*' }), {
        rule: 'self == oldSelf',
        message: 'changing the cluster domain is not supported',
      }),
      'Domain of the names of Services in the tenant.',
    ),
    'cluster.local',
  ),
  allowAddressAsExternalIP: opt(
    described(
      bool(),
      'Adds the address to the external IPs of a ClusterIP or NodePort Service, where the manager allows that (--allow-external-ips).',
    ),
  ),
  port: opt(described(int32(), 'Port of the endpoint, of the Service and of kube-apiserver.'), 6443),
  certSANs: opt(
    described(list(str()), 'Further names and addresses in the certificate of kube-apiserver, without ports.'),
  ),
  serviceCidr: opt(described(str(), 'Network of Services in the tenant.'), '10.96.0.0/16'),
  podCidr: opt(described(str(), 'Network of pods in the tenant.'), '10.244.0.0/16'),
  dnsServiceIPs: opt(
    described(list(str()), 'Addresses of the DNS service; the tenth of the service network when empty.'),
  ),
});
