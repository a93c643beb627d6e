import type { TenantControlPlane } from '../../../api/steward/v1alpha1/tenant-control-plane.ts';
import { collectComplaints } from '../../../kubeadm/collect-complaints.ts';
import type { InvalidInput } from '../../../kubeadm/invalid-input-error.ts';
import { isIpAddress } from '../../../kubeadm/networks.ts';
import { isDnsName } from '../../../kubeadm/san.ts';
import { parseInternalEndpoint } from '../components/tcp-proxy/proxy-upstream.ts';

const at = 'spec.addons.tcpProxy';

/** What is wrong with the proxy that the author wants: the tenant's API server would refuse it, long after. */
export function tcpProxyComplaints(tcp: TenantControlPlane): readonly InvalidInput[] {
  const proxy = tcp.spec.addons.tcpProxy;
  if (proxy === undefined) return [];
  const { internalEndpoint = '', hostAliases = [] } = proxy;
  const aliases = hostAliases.flatMap(({ ip, hostnames }, index): readonly InvalidInput[] => {
    const field = `${at}.hostAliases[${index}]`;
    const address = { field: `${field}.ip`, value: ip, reason: 'is not an IP address', remedy: 'give one' };
    const names = hostnames.flatMap((name, place) =>
      isDnsName(name)
        ? []
        : [{ field: `${field}.hostnames[${place}]`, value: name, reason: 'is not a DNS name', remedy: 'give one' }],
    );
    return [...(isIpAddress(ip) ? [] : [address]), ...names];
  });
  const { port } = tcp.spec.networkProfile;
  return [
    ...(internalEndpoint === '' ? [] : collectComplaints(() => parseInternalEndpoint(internalEndpoint, port))),
    ...aliases,
  ];
}
