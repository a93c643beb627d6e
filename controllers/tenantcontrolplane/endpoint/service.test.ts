import { describe, expect, test } from '@jest/globals';
import { storedMeta } from '../../../api/as-stored.ts';
import type { Service } from '../../../api/core/kinds.ts';
import { publishing } from '../../../testing/worlds/published-tenant.ts';
import type { PublishedBy } from '../../../testing/worlds/published-tenant.ts';
import { tenantControlPlaneWith } from '../../../testing/builders/tenant-control-plane.ts';
import type { TenantControlPlaneChanges } from '../../../testing/builders/tenant-control-plane.ts';
import { chooseNodeAddress, findEndpoint, nodeAddresses } from './endpoint.ts';
import { parseCidr } from '../../../kubeadm/networks.ts';
import { dataStoreLabel } from '../shared/data-store-label.ts';
import { ownNamespaceOnly } from './reach/reach.ts';
import { defaultNodePorts, service } from './service.ts';

const nodePorts = defaultNodePorts;

const made = (changes: TenantControlPlaneChanges, current?: Service, reach = ownNamespaceOnly): unknown =>
  service({ tcp: tenantControlPlaneWith(changes), current, nodePorts, reach, servers: [] }).spec;

const live = (spec: object, status: object = {}): Service => ({
  apiVersion: 'v1',
  kind: 'Service',
  metadata: storedMeta({ name: 'tenant' }),
  spec,
  status,
});

const allocated = live({ type: 'NodePort', ports: [{ name: 'kube-apiserver', port: 6443, nodePort: 31111 }] });
const exposed = (
  by: PublishedBy,
  networkProfile: TenantControlPlaneChanges['networkProfile'] = {},
): TenantControlPlaneChanges => ({ ...publishing(by), networkProfile });
const nodePort: TenantControlPlaneChanges = { service: { serviceType: 'NodePort' } };

describe('The Service', () => {
  test('of type ClusterIP has the one port and the author’s own', () => {
    const additionalPorts = [{ name: 'extra', port: 1, targetPort: 'x', protocol: 'TCP' }] as const;
    expect(made({ service: { serviceType: 'ClusterIP', additionalPorts } })).toMatchObject({
      type: 'ClusterIP',
      ports: [
        { name: 'kube-apiserver', protocol: 'TCP', port: 6443, targetPort: 6443 },
        { name: 'extra', protocol: 'TCP', port: 1, targetPort: 'x' },
      ],
    });
  });

  test('leads to the pods of the control plane, and during a migration that stops them only to those on one DataStore', () => {
    const ours = { 'steward.butlerlabs.dev/name': 'tenant' };
    expect(made({})).toMatchObject({ selector: ours });
    const [source, target] = [{ dataStoreName: 's'.repeat(64) }, { dataStoreName: 'target' }];
    const at = '2030-01-01T00:00:00Z';
    const migration = { phase: 'Switching', source, target, startedAt: at, stoppedAt: at } as const;
    expect(made({ status: { storage: { migration } } })).toHaveProperty('selector', {
      ...ours,
      'component.steward.butlerlabs.dev/datastore': dataStoreLabel(source.dataStoreName),
    });
    const final = { ...migration, phase: 'ResumingWrites' } as const;
    expect(made({ status: { storage: { migration: final } } })).toHaveProperty('selector', ours);
  });

  test('of type NodePort requests a port at first and then uses it everywhere', () => {
    expect(made(nodePort)).toMatchObject({ ports: [{ port: 6443, targetPort: 6443 }] });
    expect(made(nodePort, allocated)).toMatchObject({ ports: [{ port: 31111, targetPort: 31111, nodePort: 31111 }] });
  });

  test('of type NodePort changes with the author to another port in range', () => {
    const changes = { ...nodePort, networkProfile: { port: 30002 } };
    expect(made(changes, allocated)).toMatchObject({ ports: [{ port: 30002, targetPort: 30002, nodePort: 30002 }] });
  });

  test('of type LoadBalancer has class and sources, and drops them when they are removed', () => {
    const loadBalancer = { serviceType: 'LoadBalancer' } as const;
    const networkProfile = { loadBalancerClass: 'a/b', loadBalancerSourceRanges: ['10.0.0.0/8'] };
    expect(made({ service: loadBalancer, networkProfile })).toMatchObject(networkProfile);
    const bare = made({ service: loadBalancer, networkProfile: { loadBalancerSourceRanges: [] } });
    for (const field of Object.keys(networkProfile)) expect(bare).not.toMatchObject({ [field]: expect.anything() });
  });

  test('has the address as external IP only on request, and if a flag allows it', () => {
    const address = '192.0.2.1';
    const asked = { networkProfile: { address, allowAddressAsExternalIP: true } };
    const reach = { ...ownNamespaceOnly, externalIps: [parseCidr('192.0.2.0/28', 'test')] };
    expect(made(asked, undefined, reach)).toMatchObject({ externalIPs: [address] });
    expect(Object.keys(made(asked) as object)).not.toContain('externalIPs');
    expect(Object.keys(made({ networkProfile: { address } }) as object)).not.toContain('externalIPs');
  });
});

describe('The endpoint', () => {
  const find = (changes: TenantControlPlaneChanges, current: Service, nodeAddress?: string): unknown =>
    findEndpoint({ tcp: tenantControlPlaneWith(changes), service: current, nodePorts, nodeAddress });

  test.each<{ what: string; changes: TenantControlPlaneChanges; current: Service; node?: string; expected: object }>([
    {
      what: 'the cluster address',
      changes: {},
      current: live({ clusterIP: '10.1.1.1' }),
      expected: { address: '10.1.1.1', port: 6443 },
    },
    {
      what: 'the author’s address',
      changes: { networkProfile: { address: '192.0.2.9' } },
      current: live({ clusterIP: '10.1.1.1' }),
      expected: { address: '192.0.2.9', port: 6443 },
    },
    {
      what: 'a node and the allocated port',
      changes: nodePort,
      current: allocated,
      node: '192.0.2.3',
      expected: { address: '192.0.2.3', port: 31111 },
    },
    {
      what: 'the load balancer’s first address',
      changes: { service: { serviceType: 'LoadBalancer' } },
      current: live({}, { loadBalancer: { ingress: [{ hostname: 'x' }, { ip: '192.0.2.4' }] } }),
      expected: { address: '192.0.2.4', port: 6443, host: '192.0.2.4', hostPort: 6443 },
    },
    {
      what: 'what the author says that others reach',
      changes: {
        service: { serviceType: 'LoadBalancer' },
        networkProfile: { address: '192.0.2.9', advertiseAddress: '198.51.100.9' },
      },
      current: live({}),
      expected: { address: '198.51.100.9', port: 6443, host: '198.51.100.9', hostPort: 6443 },
    },
    {
      what: 'the name of a load balancer that has no address, advertised as the cluster address',
      changes: { service: { serviceType: 'LoadBalancer' } },
      current: live({ clusterIP: '10.1.1.1' }, { loadBalancer: { ingress: [{ hostname: 'lb.example.org' }] } }),
      expected: { address: '10.1.1.1', port: 6443, host: 'lb.example.org', hostPort: 6443 },
    },
    {
      what: 'the load balancer’s address of the family that the tenant begins with',
      changes: { service: { serviceType: 'LoadBalancer' }, networkProfile: { serviceCidr: 'fd00::/112,10.96.0.0/16' } },
      current: live({}, { loadBalancer: { ingress: [{ ip: '192.0.2.4' }, { ip: '2001:db8::4' }] } }),
      expected: { address: '2001:db8::4', host: '2001:db8::4' },
    },
    {
      what: 'the author’s address before the name of a load balancer',
      changes: { service: { serviceType: 'LoadBalancer' }, networkProfile: { address: '192.0.2.9' } },
      current: live({ clusterIP: '10.1.1.1' }, { loadBalancer: { ingress: [{ hostname: 'lb.example.org' }] } }),
      expected: { address: '192.0.2.9', host: '192.0.2.9' },
    },
    {
      what: 'the host of an Ingress at port 443',
      changes: exposed({ ingress: { hostname: 'a.example.org' } }),
      current: live({ clusterIP: '10.1.1.1' }),
      expected: { address: '10.1.1.1', port: 6443, host: 'a.example.org', hostPort: 443 },
    },
    {
      what: 'the host of an Ingress at the port that its author gave',
      changes: exposed({ ingress: { hostname: 'a.example.org:8443' } }),
      current: live({ clusterIP: '10.1.1.1' }),
      expected: { host: 'a.example.org', hostPort: 8443 },
    },
    {
      what: 'the host of a Gateway at the port of the Service',
      changes: exposed({ gateway: { hostname: 'a.example.org' } }, { port: 7443, address: '192.0.2.9' }),
      current: live({ clusterIP: '10.1.1.1' }),
      expected: { address: '192.0.2.9', port: 7443, host: 'a.example.org', hostPort: 7443 },
    },
    {
      what: 'no node’s where a host name leads to a NodePort Service',
      changes: exposed({ ingress: { hostname: 'a.example.org' }, service: { serviceType: 'NodePort' } }),
      current: live({
        type: 'NodePort',
        ports: [{ name: 'kube-apiserver', port: 6443, nodePort: 31111 }],
        clusterIP: '10.1.1.1',
      }),
      node: '192.0.2.3',
      expected: { address: '10.1.1.1', port: 31111, host: 'a.example.org', hostPort: 443 },
    },
  ])('is $what', ({ changes, current, node, expected }) => {
    expect(find(changes, current, node)).toMatchObject({ endpoint: expected });
  });

  test('is awaited, with a reason', () => {
    expect(find({ service: { serviceType: 'LoadBalancer' } }, live({}))).toMatchObject({ missing: 'NotExposed' });
    expect(find(nodePort, allocated)).toMatchObject({ missing: 'NoNodeAddress' });
    expect(find(nodePort, live({ type: 'NodePort' }), '192.0.2.3')).toMatchObject({ missing: 'NotExposed' });
    expect(find({}, live({ clusterIP: 'None' }))).toMatchObject({ missing: 'NotExposed' });
    const six = { networkProfile: { serviceCidr: 'fd00::/112' } };
    expect(find(six, live({ clusterIP: '10.1.1.1' }))).toMatchObject({ missing: 'WrongAddressFamily' });
    const single = live({ clusterIP: '10.1.1.1', clusterIPs: ['10.1.1.1'] });
    expect(find(six, single)).toMatchObject({ missing: 'WrongAddressFamily' });
    expect(find(six, live({ clusterIP: 'fd01::1' }))).toMatchObject({ endpoint: { address: 'fd01::1' } });
  });

  test('that pods may not reach is reported, unless its author has set it', () => {
    const gateway = { gateway: { hostname: 'a.example.org' } };
    const service = live({ clusterIP: '10.1.1.1' });
    expect(find(exposed(gateway), service)).toMatchObject({ message: expect.stringContaining('10.1.1.1') as unknown });
    expect(find(exposed(gateway, { address: '192.0.2.9' }), service)).toMatchObject({ message: '' });
    expect(find({}, service)).toMatchObject({ message: '' });
  });

  test('may be any internal address of a node', () => {
    const addresses = [
      { type: 'Hostname', address: 'a' },
      { type: 'InternalIP', address: '192.0.2.1' },
      { type: 'InternalIP', address: '2001:db8::1' },
    ];
    const node = { apiVersion: 'v1', kind: 'Node', metadata: storedMeta({ name: 'a' }), status: { addresses } };
    expect(nodeAddresses([node]).map(({ address }) => address)).toEqual(['192.0.2.1', '2001:db8::1']);
  });

  test('stays at the node that workers know, otherwise it is a ready one', () => {
    const nodes = [
      { name: 'a', address: '192.0.2.1', ready: false },
      { name: 'b', address: '192.0.2.2', ready: true },
      { name: 'c', address: '192.0.2.3', ready: true },
    ];
    expect(chooseNodeAddress(nodes, undefined)).toBe('192.0.2.2');
    expect(chooseNodeAddress(nodes, '192.0.2.3')).toBe('192.0.2.3');
    expect(chooseNodeAddress(nodes, '192.0.2.99')).toBe('192.0.2.2');
    expect(chooseNodeAddress([], '192.0.2.3')).toBeUndefined();
  });
});
