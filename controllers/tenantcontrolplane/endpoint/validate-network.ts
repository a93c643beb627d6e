import type { TenantControlPlane } from '../../../api/steward/v1alpha1/tenant-control-plane.ts';
import type { InvalidInput } from '../../../kubeadm/invalid-input-error.ts';
import { dnsServiceIps, isIpAddress, overlaps, parseCidr, parseCidrs } from '../../../kubeadm/networks.ts';
import type { Network } from '../../../kubeadm/networks.ts';
import { alternativeNames } from '../../../kubeadm/san.ts';
import { canAdvertise } from '../shared/address-family.ts';
import { flagName } from '../shared/arguments.ts';
import { tenantNetworks } from '../shared/tenant-networks.ts';
import { collectErrors } from '../../../kubeadm/collect-errors.ts';

const at = 'spec.networkProfile';

/** Ports that other programs in the pod listen on. */
const takenPorts: Readonly<Record<number, string>> = { 10257: 'kube-controller-manager', 10259: 'kube-scheduler' };

/** The addresses that the author set, by field. */
function givenAddresses({ spec }: TenantControlPlane): readonly (readonly [field: string, address: string])[] {
  const { address = '', advertiseAddress = '' } = spec.networkProfile;
  const given = [
    [`${at}.address`, address],
    [`${at}.advertiseAddress`, advertiseAddress],
  ] as const;
  return given.filter(([, text]) => text !== '');
}

/** Finds an address with which an API server would not start. It advertises the last of the addresses. */
function validateFamily(tcp: TenantControlPlane): readonly InvalidInput[] {
  const [field, address] = givenAddresses(tcp).at(-1) ?? [];
  if (field === undefined || address === undefined || !isIpAddress(address) || canAdvertise(tcp, address)) return [];
  const reason = `is not of the IP family of the first service network ${tenantNetworks(tcp).services.value}, the only one that kube-apiserver advertises`;
  const remedy = 'use an address of that family, or swap the service networks';
  return [{ field, value: address, reason, remedy }];
}

function validateAddress(tcp: TenantControlPlane): readonly InvalidInput[] {
  const { port } = tcp.spec.networkProfile;
  const found: InvalidInput[] = [];
  for (const [field, address] of givenAddresses(tcp)) {
    if (isIpAddress(address)) continue;
    found.push({
      field,
      value: address,
      reason: 'is not an IP address, the only thing that an API server can advertise',
      remedy: 'use an IP address here and add host names to spec.networkProfile.certSANs',
    });
  }
  const other = takenPorts[port];
  if (port < 1 || port > 65535 || other !== undefined) {
    found.push({
      field: `${at}.port`,
      value: String(port),
      reason: other === undefined ? 'is not a port' : `is used by ${other} in the same pod`,
      remedy: 'use a port between 1 and 65535 other than 10257 and 10259, e.g. 6443',
    });
  }
  return found;
}

function tooLarge(network: Network): boolean {
  return network.prefix < (network.family === 4 ? 12 : 64);
}

function validateSize(
  tcp: TenantControlPlane,
  services: readonly Network[],
  pods: readonly Network[],
): readonly InvalidInput[] {
  const given = tenantNetworks(tcp);
  const found: InvalidInput[] = [];
  if (services.some(tooLarge)) {
    const remedy = 'use a prefix of at least /12 for IPv4 or /64 for IPv6';
    found.push({
      ...given.services,
      reason: 'is larger than kube-apiserver accepts',
      remedy,
    });
  }
  if (services.some((service) => pods.some((pod) => overlaps(service, pod)))) {
    const remedy = 'use networks that do not overlap';
    found.push({
      ...given.pods,
      reason: `overlaps the service network ${given.services.value}`,
      remedy,
    });
  }
  const masks = (tcp.spec.controlPlane.deployment.extraArgs?.controllerManager ?? []).map(flagName);
  const ownMask = masks.some((name) => name.startsWith('node-cidr-mask-size') || name === 'allocate-node-cidrs');
  if (!ownMask && pods.some(({ family, prefix }) => prefix > (family === 4 ? 24 : 64))) {
    found.push({
      ...given.pods,
      reason:
        'has no room for the network of a single node (/24 for IPv4, /64 for IPv6), so kube-controller-manager would not start',
      remedy:
        'use a larger network, or set smaller node networks with --node-cidr-mask-size in spec.controlPlane.deployment.extraArgs.controllerManager',
    });
  }
  return found;
}

/** Validates the networks, addresses and names that the author set. */
export function validateNetwork(tcp: TenantControlPlane): readonly InvalidInput[] {
  const { dnsServiceIPs, certSANs, loadBalancerSourceRanges } = tcp.spec.networkProfile;
  const given = tenantNetworks(tcp);
  let services: readonly Network[] = [];
  let pods: readonly Network[] = [];
  const unreadable = collectErrors(
    () => (services = parseCidrs(given.services.value, given.services.field)),
    () => (pods = parseCidrs(given.pods.value, given.pods.field)),
    ...(loadBalancerSourceRanges ?? []).map(
      (range, index) => (): unknown => parseCidr(range, `${at}.loadBalancerSourceRanges[${index}]`),
    ),
    () => alternativeNames(certSANs ?? [], `${at}.certSANs`),
  );
  const dns = services.length === 0 ? [] : collectErrors(() => dnsServiceIps(given.services.value, dnsServiceIPs));
  return [
    ...unreadable,
    ...dns.map((error) => ({ ...error, field: `${at}.${error.field}` })),
    ...validateSize(tcp, services, pods),
    ...validateAddress(tcp),
    ...(services.length === 0 ? [] : validateFamily(tcp)),
  ];
}
