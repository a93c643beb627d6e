import { kinds } from '../../../api/core/kinds.ts';
import type { Clock } from '../../../runtime/clock.ts';
import type { Cluster } from '../../../runtime/client/cluster.ts';
import type { ManagementApi } from './network-policy.ts';

const freshMs = 60_000;
const key = { namespace: 'default', name: 'kubernetes' } as const;

async function read(cluster: Cluster): Promise<ManagementApi> {
  const [service, slice] = await Promise.all([cluster.get(kinds.Service, key), cluster.get(kinds.EndpointSlice, key)]);
  const addresses = [...new Set(slice?.endpoints?.flatMap((endpoint) => endpoint.addresses) ?? [])].sort();
  const ports = (slice?.ports ?? []).flatMap(({ port }) => (port === undefined ? [] : [port]));
  const { clusterIPs = [], clusterIP } = service?.spec ?? {};
  return {
    serviceAddresses: clusterIPs.length > 0 || clusterIP === undefined ? clusterIPs : [clusterIP],
    hosts: addresses.flatMap((address) => ports.map((port) => ({ address, port }))),
  };
}

/**
 * The addresses of the management cluster's own API server, from the Service `kubernetes` and its EndpointSlice, which
 * every API server maintains itself. Read at most once a minute for any number of tenants. Callers wait for a common read,
 * which the end of one caller does not cancel.
 */
export function managementApiOf(cluster: Cluster, clock: Clock): () => Promise<ManagementApi> {
  let known: { readonly until: number; readonly found: Promise<ManagementApi> } | undefined;
  return () => {
    if (known !== undefined && known.until > clock.monotonic()) return known.found;
    const found = read(cluster).catch((error: unknown) => {
      known = undefined;
      throw error;
    });
    known = { until: clock.monotonic() + freshMs, found };
    return found;
  };
}
