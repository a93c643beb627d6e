import type { TenantControlPlane } from '../../../api/steward/v1alpha1/tenant-control-plane.ts';

/** One or two networks that the author set, separated by a comma as kubeadm writes them, and their field. */
export interface SetNetworks {
  readonly field: string;
  readonly value: string;
}

/** The networks of a tenant. The lists take precedence over the texts, which always have a default. */
export function tenantNetworks({ spec }: Pick<TenantControlPlane, 'spec'>): {
  readonly services: SetNetworks;
  readonly pods: SetNetworks;
} {
  const { serviceCidr, serviceCidrs, podCidr, podCidrs } = spec.networkProfile;
  return {
    services: setNetworks(['serviceCidr', serviceCidr], ['serviceCidrs', serviceCidrs]),
    pods: setNetworks(['podCidr', podCidr], ['podCidrs', podCidrs]),
  };
}

function setNetworks(
  [name, text]: readonly [string, string],
  [listName, list = []]: readonly [string, readonly string[] | undefined],
): SetNetworks {
  const at = 'spec.networkProfile';
  return list.length > 0
    ? { field: `${at}.${listName}`, value: list.join(',') }
    : { field: `${at}.${name}`, value: text };
}
