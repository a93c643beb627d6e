import type { TenantControlPlane } from '../../../../api/steward/v1alpha1/tenant-control-plane.ts';
import { collectErrors } from '../../../../kubeadm/collect-errors.ts';
import type { InvalidInput } from '../../../../kubeadm/invalid-input-error.ts';
import { isIpAddress } from '../../../../kubeadm/networks.ts';
import { isDnsName } from '../../../../kubeadm/san.ts';
import { parseInternalEndpoint } from './proxy-upstream.ts';

const at = 'spec.addons.tcpProxy';

/** Validates the proxy that the author wants: otherwise the tenant's API server would refuse it much later. */
export function validateTcpProxy(tcp: TenantControlPlane): readonly InvalidInput[] {
  const proxy = tcp.spec.addons.tcpProxy;
  if (proxy === undefined) return [];
  const { internalEndpoint = '', hostAliases = [] } = proxy;
  const aliases = hostAliases.flatMap(({ ip, hostnames }, index): readonly InvalidInput[] => {
    const field = `${at}.hostAliases[${index}]`;
    const address = { field: `${field}.ip`, value: ip, reason: 'is not an IP address', remedy: 'use an IP address' };
    const names = hostnames.flatMap((name, place) =>
      isDnsName(name)
        ? []
        : [
            {
              field: `${field}.hostnames[${place}]`,
              value: name,
              reason: 'is not a DNS name',
              remedy: 'use a DNS name',
            },
          ],
    );
    return [...(isIpAddress(ip) ? [] : [address]), ...names];
  });
  const { port } = tcp.spec.networkProfile;
  return [
    ...(internalEndpoint === '' ? [] : collectErrors(() => parseInternalEndpoint(internalEndpoint, port))),
    ...aliases,
  ];
}
