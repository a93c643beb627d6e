import type { TenantControlPlane } from '../../../../api/steward/v1alpha1/tenant-control-plane.ts';
import type { InvalidInput } from '../../../../kubeadm/invalid-input-error.ts';
import { cidrText, contains } from '../../../../kubeadm/networks.ts';
import type { Reach } from './reach.ts';

/** The address that the author wants in `externalIPs` of the Service; undefined when there is none. */
export function externalIpOf({ spec }: TenantControlPlane): string | undefined {
  const { address = '', allowAddressAsExternalIP = false } = spec.networkProfile;
  if (!allowAddressAsExternalIP || address === '' || spec.controlPlane.service.serviceType === 'LoadBalancer')
    return undefined;
  return address;
}

/**
 * Why the Service must not have that external IP. Every node sends traffic for an external IP to the pods of the Service
 * that names it, regardless of who owns the address (CVE-2020-8554): only the operator knows which addresses are free.
 */
export function validateExternalIp(tcp: TenantControlPlane, reach: Reach): InvalidInput | undefined {
  const address = externalIpOf(tcp);
  if (address === undefined || reach.externalIps.some((network) => contains(network, address))) return undefined;
  const allowed = reach.externalIps.map(cidrText).join(', ');
  const known = allowed === '' ? 'no external IP is allowed' : `only addresses of ${allowed} are allowed`;
  return {
    field: 'spec.networkProfile.allowAddressAsExternalIP',
    value: 'true',
    reason: `would capture all traffic of the cluster to the external IP ${address}, but ${known}`,
    remedy:
      'remove the field and use serviceType LoadBalancer, or ask the operator to start the manager with --allow-external-ips=<CIDR>',
  };
}
