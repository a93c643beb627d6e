import { kinds } from '../../api/core/kinds.ts';
import type { Clock } from '../../runtime/clock.ts';
import type { Cluster } from '../../runtime/cluster.ts';
import type { ManagementApi } from './components/network-policy.ts';

const freshMs = 60_000;
const key = { namespace: 'default', name: 'kubernetes' } as const;

async function read(cluster: Cluster, signal: AbortSignal): Promise<ManagementApi> {
  const [service, slice] = await Promise.all([
    cluster.get(kinds.Service, key, { signal }),
    cluster.get(kinds.EndpointSlice, key, { signal }),
  ]);
  const addresses = [...new Set(slice?.endpoints?.flatMap((endpoint) => endpoint.addresses) ?? [])].sort();
  const ports = (slice?.ports ?? []).flatMap(({ port }) => (port === undefined ? [] : [port]));
  const { clusterIPs = [], clusterIP } = service?.spec ?? {};
  return {
    serviceAddresses: clusterIPs.length > 0 || clusterIP === undefined ? clusterIPs : [clusterIP],
    hosts: addresses.flatMap((address) => ports.map((port) => ({ address, port }))),
  };
}

/**
 * Where the management cluster's own API server is, as the Service `kubernetes` and its EndpointSlice tell, which every API
 * server keeps up to date itself. Read at most once a minute, however many tenants ask.
 */
export function managementApiOf(cluster: Cluster, clock: Clock): (signal: AbortSignal) => Promise<ManagementApi> {
  let known: { readonly until: number; readonly found: Promise<ManagementApi> } | undefined;
  return (signal) => {
    if (known !== undefined && known.until > clock.monotonic()) return known.found;
    const found = read(cluster, signal).catch((error: unknown) => {
      known = undefined;
      throw error;
    });
    known = { until: clock.monotonic() + freshMs, found };
    return found;
  };
}
