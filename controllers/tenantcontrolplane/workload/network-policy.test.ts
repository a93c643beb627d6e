import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { asStored, storedMeta } from '../../../api/as-stored.ts';
import type { NetworkPolicy } from '../../../api/core/kinds.ts';
import { tenantControlPlaneWith } from '../../../testing/builders/tenant-control-plane.ts';
import type { TenantControlPlaneChanges } from '../../../testing/builders/tenant-control-plane.ts';
import { konnectivityAddon } from '../../../testing/builders/konnectivity-addon.ts';
import { addons } from '../addons/registry.ts';
import { ownNamespaceOnly } from '../endpoint/reach/reach.ts';
import { defaultNodePorts, service } from '../endpoint/service.ts';
import { serversOf } from '../shared/addon-server.ts';
import { networkPolicy } from './network-policy.ts';
import type { NetworkPolicyInput } from './network-policy.ts';

const around: Omit<NetworkPolicyInput, 'tcp'> = {
  port: 6443,
  service: { apiVersion: 'v1', kind: 'Service', metadata: storedMeta({}) },
  storePorts: [2379, 2379],
  isMonitored: false,
  management: {
    serviceAddresses: ['10.96.0.1', 'fd00:96::1'],
    hosts: [
      { address: '192.0.2.1', port: 6443 },
      { address: '192.0.2.2', port: 6443 },
    ],
  },
};

type Spec = NonNullable<NetworkPolicy['spec']>;

function made(changes: TenantControlPlaneChanges = {}, more: Partial<typeof around> = {}): Spec {
  const [policy] = networkPolicy({ tcp: tenantControlPlaneWith(changes), ...around, ...more });
  const { spec } = (policy ?? {}) as NetworkPolicy;
  if (spec === undefined) throw new Error('there is no policy');
  return spec;
}

const policyOf = (given: object): TenantControlPlaneChanges => ({
  spec: {
    controlPlane: { ...tenantControlPlaneWith().spec.controlPlane, networkPolicy: given },
  },
});

interface Target {
  readonly address: string;
  readonly protocol?: string;
  readonly port: number;
}

const inBlock = (address: string, cidr: string): boolean => {
  if (address.includes(':') !== cidr.includes(':')) return false;
  const [network = '', length] = cidr.split('/');
  if (length === '0') return true;
  return length === '16' ? address.startsWith(`${network.split('.').slice(0, 2).join('.')}.`) : address === network;
};

/** Whether a network plugin that counts every address in an ipBlock lets the pods dial. */
function reaches(spec: Spec, { address, protocol = 'TCP', port }: Target): boolean {
  return (spec.egress ?? []).some(
    ({ to, ports }) =>
      (to === undefined ||
        to.some(
          ({ ipBlock }) =>
            ipBlock !== undefined &&
            inBlock(address, ipBlock.cidr) &&
            ipBlock.except?.some((cidr) => inBlock(address, cidr)) !== true,
        )) &&
      (ports === undefined ||
        ports.some(
          (one) => one.protocol === protocol && Number(one.port) <= port && port <= (one.endPort ?? Number(one.port)),
        )),
  );
}

describe('The ingress rules of a control plane', () => {
  const ports = (changes: TenantControlPlaneChanges = {}, more: Partial<typeof around> = {}): unknown =>
    made(changes, more).ingress;

  test('allow every client at the secure port and no other', () => {
    expect(ports()).toEqual([{ ports: [{ protocol: 'TCP', port: 6443 }] }]);
    expect(made().podSelector).toEqual({ matchLabels: { 'steward.butlerlabs.dev/name': 'tenant' } });
    expect(made().policyTypes).toEqual(['Ingress', 'Egress']);
  });

  test('allow also the ports that add-ons, the Service and additional containers publish', () => {
    const changes: TenantControlPlaneChanges = {
      spec: { addons: { konnectivity: konnectivityAddon() } },
      service: { additionalPorts: [{ name: 'metrics', protocol: 'TCP', port: 80, targetPort: 'metrics' }] },
      deployment: {
        additionalContainers: [{ name: 'a', ports: [{ name: 'metrics', containerPort: 9100 }] }],
        additionalInitContainers: [{ name: 'b', ports: [{ containerPort: 53, protocol: 'UDP' }] }],
      },
    };
    const found = ports(changes, {
      service: asStored(
        service({
          tcp: tenantControlPlaneWith(changes),
          current: undefined,
          nodePorts: defaultNodePorts,
          reach: ownNamespaceOnly,
          servers: serversOf(addons),
        }),
      ),
    });
    expect(found).toEqual([
      {
        ports: [
          { protocol: 'TCP', port: 6443 },
          { protocol: 'TCP', port: 'metrics' },
          { protocol: 'TCP', port: 8132 },
          { protocol: 'UDP', port: 53 },
          { protocol: 'TCP', port: 9100 },
        ],
      },
    ]);
  });
});

describe('Prometheus', () => {
  test('reaches controller manager and scheduler from namespaces that are labeled for it, where it is to scrape them', () => {
    expect(made({}, { isMonitored: true }).ingress).toEqual([
      { ports: [{ protocol: 'TCP', port: 6443 }] },
      {
        from: [{ namespaceSelector: { matchLabels: { metrics: 'enabled' } } }],
        ports: [
          { protocol: 'TCP', port: 10_257 },
          { protocol: 'TCP', port: 10_259 },
        ],
      },
    ]);
  });
});

describe('The egress rules of a control plane', () => {
  test.each<[string, Target]>([
    ['names', { address: '10.96.0.10', protocol: 'UDP', port: 53 }],
    ['a store', { address: '203.0.113.9', port: 2379 }],
    ['a store on a machine of the management API server', { address: '192.0.2.1', port: 2379 }],
    ['a worker', { address: '198.51.100.7', port: 10250 }],
    ['a webhook', { address: '198.51.100.8', port: 443 }],
    ['a webhook over IPv6', { address: 'fd00::8', port: 443 }],
    ['an identity provider behind a machine of the management API server', { address: '192.0.2.2', port: 443 }],
  ])('allow %s', (_what, target) => {
    expect(reaches(made(), target)).toBe(true);
  });

  test.each<[string, Target]>([
    ['the management API server at its Service', { address: '10.96.0.1', port: 443 }],
    ['it over IPv6', { address: 'fd00:96::1', port: 443 }],
    ['it at its machines', { address: '192.0.2.2', port: 6443 }],
    ['the kubelets of its machines', { address: '192.0.2.2', port: 10250 }],
    ['the peers of its etcd', { address: '192.0.2.2', port: 2380 }],
    ['the metadata of a cloud', { address: '169.254.169.254', port: 80 }],
  ])('do not allow %s', (_what, target) => {
    expect(reaches(made(), target)).toBe(false);
  });

  test('allow pods that are neither a control plane nor of Steward, and those of the same control plane', () => {
    const peers = made().egress?.flatMap(({ to = [] }) => to) ?? [];
    expect(peers.filter(({ podSelector }) => podSelector !== undefined)).toEqual([
      {
        namespaceSelector: {},
        podSelector: {
          matchExpressions: [
            { key: 'steward.butlerlabs.dev/name', operator: 'DoesNotExist' },
            { key: 'app.kubernetes.io/component', operator: 'NotIn', values: ['controller-manager', 'activator'] },
          ],
        },
      },
      { podSelector: { matchLabels: { 'steward.butlerlabs.dev/name': 'tenant' } } },
    ]);
  });

  test('allow datastores at the port of the management API server, but not that server', () => {
    const found = made({}, { storePorts: [6443] });
    expect(reaches(found, { address: '203.0.113.9', port: 6443 })).toBe(true);
    expect(reaches(found, { address: '192.0.2.1', port: 6443 })).toBe(false);
  });

  test('never allow the management API server, and always allow every other address, whatever the ports', () => {
    const port = fc.integer({ min: 1, max: 65_535 });
    fc.assert(
      fc.property(port, fc.array(port, { maxLength: 4 }), port, (api, storePorts, any) => {
        const management = { serviceAddresses: ['10.96.0.1'], hosts: [{ address: '192.0.2.1', port: api }] };
        const found = made({}, { storePorts, management });
        if (api !== 53) expect(reaches(found, { address: '192.0.2.1', port: api })).toBe(false);
        expect(reaches(found, { address: '10.96.0.1', port: 443 })).toBe(false);
        expect(reaches(found, { address: '198.51.100.7', port: any })).toBe(true);
        for (const store of storePorts) {
          if (store !== api && store !== 443) expect(reaches(found, { address: '192.0.2.1', port: store })).toBe(true);
        }
      }),
    );
  });
});

describe('The author', () => {
  test.each([
    ['the way in', { ingress: 'Open' }, ['Egress']],
    ['the way out', { egress: 'Open' }, ['Ingress']],
    ['neither', {}, ['Ingress', 'Egress']],
  ])('may open %s', (_what, given, types) => {
    const found = made(policyOf(given));
    expect(found.policyTypes).toEqual(types);
    expect(found.ingress === undefined).toBe(!types.includes('Ingress'));
    expect(found.egress === undefined).toBe(!types.includes('Egress'));
  });

  test('has no policy after opening both', () => {
    const tcp = tenantControlPlaneWith(policyOf({ ingress: 'Open', egress: 'Open' }));
    expect(networkPolicy({ tcp, ...around })).toEqual([]);
  });
});
