import { kinds } from '../../api/core/kinds.ts';
import type { FakeCluster } from '../fake/fake-cluster.ts';

/** The key of both objects. */
export const managementApi = { namespace: 'default', name: 'kubernetes' } as const;

/** Puts what each API server keeps up to date about itself into a cluster in memory: the Service `kubernetes` and its EndpointSlice. */
export async function seedManagementApi(cluster: FakeCluster, addresses: readonly string[]): Promise<void> {
  const metadata = managementApi;
  await cluster.seed(kinds.EndpointSlice, {
    apiVersion: 'discovery.k8s.io/v1',
    kind: 'EndpointSlice',
    metadata,
    addressType: 'IPv4',
    endpoints: addresses.length === 0 ? [] : [{ addresses }],
    ports: [{ name: 'https', port: 6443 }],
  });
  await cluster.seed(kinds.Service, {
    apiVersion: 'v1',
    kind: 'Service',
    metadata,
    spec: { clusterIP: '10.96.0.1', clusterIPs: ['10.96.0.1'] },
  });
}
