import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import type { Service } from '../../../api/core/kinds.ts';
import { kinds } from '../../../api/core/kinds.ts';
import type { Cluster } from '../../../runtime/client/cluster.ts';
import { openCluster } from '../../../runtime/client/http-cluster.ts';
import { apiServerUnderTest } from '../../../testing/servers/api-server-under-test.ts';
import { tenantControlPlaneWith } from '../../../testing/builders/tenant-control-plane.ts';
import type { TenantControlPlaneChanges } from '../../../testing/builders/tenant-control-plane.ts';
import { parseCidr } from '../../../kubeadm/networks.ts';
import { defaultNodePorts, service } from './service.ts';

type Type = 'ClusterIP' | 'NodePort' | 'LoadBalancer';

const namespace = `service-${randomUUID().slice(0, 8)}`;
const loadBalancerClass = 'example.org/lb';
const reach = { externalIps: [parseCidr('192.0.2.0/24', 'test')], annotations: [] };
let cluster: Cluster;
let count = 0;
let nodePorts = 0;

/** A node port that no other suite gets: API servers choose node ports at random beyond the first 86. */
const ownNodePort = (): number => 30_000 + (nodePorts += 1);

beforeAll(async () => {
  const server = await apiServerUnderTest();
  cluster = openCluster(
    { server: server.url, ca: server.ca, clientCert: server.adminCertificate, clientKey: server.adminKey },
    { name: 'management' },
  );
  await cluster.create(kinds.Namespace, { apiVersion: 'v1', kind: 'Namespace', metadata: { name: namespace } });
});

afterAll(() => cluster.close());

/** One tenant's Service, applied as its author changes the spec. */
function serviceOfTenant(): (type: Type, networkProfile?: object) => Promise<NonNullable<Service['spec']>> {
  const metadata = { name: `tenant-${(count += 1)}`, namespace, uid: randomUUID() };
  let current: Service | undefined;
  return async (serviceType, networkProfile = {}) => {
    const changes: TenantControlPlaneChanges = {
      metadata,
      service: { serviceType },
      networkProfile,
    };
    const manifest = service({
      tcp: tenantControlPlaneWith(changes),
      current,
      nodePorts: defaultNodePorts,
      reach,
      servers: [],
    });
    current = await cluster.apply(kinds.Service, manifest, { fieldManager: 'steward' });
    if (current.spec === undefined) throw new Error('a Service without a spec');
    return current.spec;
  };
}

describe('A Service on a real API server', () => {
  test('loses the source ranges that its author removes', async () => {
    const apply = serviceOfTenant();
    const ranges = ['203.0.113.0/24', '198.51.100.0/24'];
    expect(await apply('LoadBalancer', { loadBalancerSourceRanges: ranges })).toMatchObject({
      loadBalancerSourceRanges: ranges,
    });
    const fewer = await apply('LoadBalancer', { loadBalancerSourceRanges: ranges.slice(1) });
    expect(fewer.loadBalancerSourceRanges).toEqual(ranges.slice(1));
    expect((await apply('LoadBalancer', { loadBalancerSourceRanges: [] })).loadBalancerSourceRanges).toBeUndefined();
    await apply('LoadBalancer', { loadBalancerSourceRanges: ranges });
    expect((await apply('LoadBalancer')).loadBalancerSourceRanges).toBeUndefined();
  });

  test('gets a class when it becomes a load balancer, and loses it afterwards', async () => {
    const apply = serviceOfTenant();
    await apply('ClusterIP');
    expect(await apply('LoadBalancer', { loadBalancerClass })).toMatchObject({
      type: 'LoadBalancer',
      loadBalancerClass,
    });
    const plain = await apply('ClusterIP', { loadBalancerClass });
    expect(plain.loadBalancerClass).toBeUndefined();
    expect(plain.ports?.[0]?.nodePort).toBeUndefined();
    const other = 'example.org/other';
    expect((await apply('LoadBalancer', { loadBalancerClass: other })).loadBalancerClass).toBe(other);
  });

  test.each<[Type, Type]>([
    ['NodePort', 'ClusterIP'],
    ['NodePort', 'LoadBalancer'],
    ['LoadBalancer', 'NodePort'],
    ['ClusterIP', 'NodePort'],
    ['LoadBalancer', 'ClusterIP'],
    ['ClusterIP', 'LoadBalancer'],
  ])('keeps its cluster address when it changes from %s to %s and back', async (from, to) => {
    const apply = serviceOfTenant();
    const port = ownNodePort();
    const before = await apply(from, { port });
    const changed = await apply(to, { port });
    expect([changed.type, changed.clusterIP]).toEqual([to, before.clusterIP]);
    expect(changed.ports?.[0]).toMatchObject({ port, targetPort: port, ...(to === 'NodePort' && { nodePort: port }) });
    const back = await apply(from, { port });
    expect([back.type, back.clusterIP]).toEqual([from, before.clusterIP]);
  });

  test('changes to another node port', async () => {
    const apply = serviceOfTenant();
    await apply('NodePort', { port: ownNodePort() });
    const port = ownNodePort();
    expect((await apply('NodePort', { port })).ports).toMatchObject([{ port, nodePort: port }]);
  });

  test('has the address as external IP for as long as that is requested', async () => {
    const apply = serviceOfTenant();
    const wish = { address: '192.0.2.10', allowAddressAsExternalIP: true };
    expect((await apply('ClusterIP', wish)).externalIPs).toEqual(['192.0.2.10']);
    expect((await apply('NodePort', { ...wish, port: ownNodePort() })).externalIPs).toEqual(['192.0.2.10']);
    expect((await apply('ClusterIP', { ...wish, address: '192.0.2.11' })).externalIPs).toEqual(['192.0.2.11']);
    expect((await apply('ClusterIP', { address: '192.0.2.11' })).externalIPs).toBeUndefined();
    await apply('ClusterIP', wish);
    expect((await apply('ClusterIP', { allowAddressAsExternalIP: true })).externalIPs).toBeUndefined();
    await apply('ClusterIP', wish);
    expect((await apply('LoadBalancer', wish)).externalIPs).toBeUndefined();
  });
});
