import type { TenantControlPlane } from '../../../api/steward/v1alpha1/tenant-control-plane.ts';
import type { InvalidInput } from '../../../kubeadm/invalid-input-error.ts';
import { dnsServiceIps, isIpAddress, overlaps, parseCidr, parseCidrs } from '../../../kubeadm/networks.ts';
import type { Network } from '../../../kubeadm/networks.ts';
import { alternativeNames } from '../../../kubeadm/san.ts';
import { canAdvertise } from '../components/address-family.ts';
import { flagName } from '../components/arguments.ts';
import { collectComplaints } from '../../../kubeadm/collect-complaints.ts';

const at = 'spec.networkProfile';

/** Ports of the pod that other programs in it listen on. */
const takenPorts: Readonly<Record<number, string>> = { 10257: 'kube-controller-manager', 10259: 'kube-scheduler' };

/** The addresses of the author, by field. */
function givenAddresses({ spec }: TenantControlPlane): readonly (readonly [field: string, address: string])[] {
  const { address = '', advertiseAddress = '' } = spec.networkProfile;
  const given = [
    [`${at}.address`, address],
    [`${at}.advertiseAddress`, advertiseAddress],
  ] as const;
  return given.filter(([, text]) => text !== '');
}

/** What an API server would not start with. It advertises the last of the addresses. */
function familyComplaints(tcp: TenantControlPlane): readonly InvalidInput[] {
  const [field, address] = givenAddresses(tcp).at(-1) ?? [];
  if (field === undefined || address === undefined || !isIpAddress(address) || canAdvertise(tcp, address)) return [];
  const reason = `is not of the family of the first service network ${tcp.spec.networkProfile.serviceCidr}, and kube-apiserver advertises no other`;
  const remedy = 'give an address of that family, or the service networks in the other order';
  return [{ field, value: address, reason, remedy }];
}

function addressComplaints(tcp: TenantControlPlane): readonly InvalidInput[] {
  const { port } = tcp.spec.networkProfile;
  const found: InvalidInput[] = [];
  for (const [field, address] of givenAddresses(tcp)) {
    if (isIpAddress(address)) continue;
    found.push({
      field,
      value: address,
      reason: 'is not an IP address, and an API server can advertise nothing else',
      remedy: 'give an IP address here and host names in spec.networkProfile.certSANs',
    });
  }
  const other = takenPorts[port];
  if (port < 1 || port > 65535 || other !== undefined) {
    found.push({
      field: `${at}.port`,
      value: String(port),
      reason: other === undefined ? 'is not a port' : `is used by ${other} in the same pod`,
      remedy: 'give a port between 1 and 65535 other than 10257 and 10259, e.g. 6443',
    });
  }
  return found;
}

function tooLarge(network: Network): boolean {
  return network.prefix < (network.family === 4 ? 12 : 64);
}

function sizeComplaints(
  { spec }: TenantControlPlane,
  services: readonly Network[],
  pods: readonly Network[],
): readonly InvalidInput[] {
  const { serviceCidr, podCidr } = spec.networkProfile;
  const found: InvalidInput[] = [];
  if (services.some(tooLarge)) {
    const remedy = 'give at least /12 for IPv4 or /64 for IPv6';
    found.push({
      field: `${at}.serviceCidr`,
      value: serviceCidr,
      reason: 'is larger than kube-apiserver takes',
      remedy,
    });
  }
  if (services.some((service) => pods.some((pod) => overlaps(service, pod)))) {
    const remedy = 'give networks that share no address';
    found.push({
      field: `${at}.podCidr`,
      value: podCidr,
      reason: `overlaps the service network ${serviceCidr}`,
      remedy,
    });
  }
  const masks = (spec.controlPlane.deployment.extraArgs?.controllerManager ?? []).map(flagName);
  const ownMask = masks.some((name) => name.startsWith('node-cidr-mask-size') || name === 'allocate-node-cidrs');
  if (!ownMask && pods.some(({ family, prefix }) => prefix > (family === 4 ? 24 : 64))) {
    found.push({
      field: `${at}.podCidr`,
      value: podCidr,
      reason:
        'has no room for the network of a single node (/24 for IPv4, /64 for IPv6), and kube-controller-manager would not start',
      remedy:
        'give a larger network, or smaller node networks by --node-cidr-mask-size in spec.controlPlane.deployment.extraArgs.controllerManager',
    });
  }
  return found;
}

/** What is wrong with the networks, addresses and names that the author gave. */
export function networkComplaints(tcp: TenantControlPlane): readonly InvalidInput[] {
  const { serviceCidr, podCidr, dnsServiceIPs, certSANs, loadBalancerSourceRanges } = tcp.spec.networkProfile;
  let services: readonly Network[] = [];
  let pods: readonly Network[] = [];
  const unreadable = collectComplaints(
    () => (services = parseCidrs(serviceCidr, `${at}.serviceCidr`)),
    () => (pods = parseCidrs(podCidr, `${at}.podCidr`)),
    ...(loadBalancerSourceRanges ?? []).map(
      (range, index) => (): unknown => parseCidr(range, `${at}.loadBalancerSourceRanges[${index}]`),
    ),
    () => alternativeNames(certSANs ?? [], `${at}.certSANs`),
  );
  const dns = services.length === 0 ? [] : collectComplaints(() => dnsServiceIps(serviceCidr, dnsServiceIPs));
  return [
    ...unreadable,
    ...dns.map((complaint) => ({ ...complaint, field: `${at}.${complaint.field}` })),
    ...sizeComplaints(tcp, services, pods),
    ...addressComplaints(tcp),
    ...(services.length === 0 ? [] : familyComplaints(tcp)),
  ];
}
