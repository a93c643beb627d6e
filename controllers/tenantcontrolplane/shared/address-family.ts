import type { TenantControlPlane } from '../../../api/steward/v1alpha1/tenant-control-plane.ts';
import { canonicalIp, parseCidrs } from '../../../kubeadm/networks.ts';
import { flagName } from './arguments.ts';
import { tenantNetworks } from './tenant-networks.ts';

/** With one of these flags the author decides what the API server advertises, or that it advertises nothing. */
const decidedElsewhere = ['advertise-address', 'endpoint-reconciler-type'];

/**
 * Whether kube-apiserver starts with this address: it must be of the family of the first service network, unless a flag decides
 * what is advertised. Throws `InvalidInputError` for an invalid service network.
 */
export function canAdvertise(tcp: TenantControlPlane, address: string): boolean {
  const args = tcp.spec.controlPlane.deployment.extraArgs?.apiServer ?? [];
  const isOurs = !args.some((argument) => decidedElsewhere.includes(flagName(argument)));
  if (!isOurs) return true;
  const canonical = canonicalIp(address);
  if (canonical === undefined) return true;
  const { services } = tenantNetworks(tcp);
  const [{ family }] = parseCidrs(services.value, services.field);
  return family === (canonical.includes(':') ? 6 : 4);
}
