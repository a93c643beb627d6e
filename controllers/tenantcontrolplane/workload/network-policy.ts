import type { Service } from '../../../api/core/kinds.ts';
import type { Manifest } from '../../../api/meta.ts';
import { activatorComponent, labels, tenantObjects } from '../../../api/names.ts';
import type { TenantControlPlane } from '../../../api/steward/v1alpha1/tenant-control-plane.ts';
import { componentPorts } from './component-ports.ts';
import { podSelector } from '../shared/pod-selector.ts';
import { ownedManifest } from '../shared/owned-manifest.ts';

/** Value of the component label on the policy. */
export const policyComponent = 'network-policy';

/** The addresses of the management cluster's API server. */
export interface ManagementApi {
  /** Addresses of the Service `kubernetes`. */
  readonly serviceAddresses: readonly string[];
  /** The machines behind the Service. */
  readonly hosts: readonly { readonly address: string; readonly port: number }[];
}

/** The inputs of a policy besides the spec. */
export interface NetworkPolicyInput {
  readonly tcp: TenantControlPlane;
  /** The secure port of the API server. */
  readonly port: number;
  /** The Service as it is stored: others may have added ports. */
  readonly service: Service;
  /** Ports of the DataStores in use. */
  readonly storePorts: readonly number[];
  readonly management: ManagementApi;
  /** Whether Prometheus may reach the other components. */
  readonly isMonitored: boolean;
}

/** What the pods of Steward itself are told apart by. */
const appComponent = 'app.kubernetes.io/component';

/** Namespaces from which metrics are scraped, as the policy of the manager names them. */
const monitoringNamespaces = { namespaceSelector: { matchLabels: { metrics: 'enabled' } } };

interface Port {
  readonly protocol: string;
  readonly port?: number | string;
  readonly endPort?: number;
}

/**
 * The metadata services of clouds, which provide names and credentials of machines: link-local for most, and the addresses of
 * Alibaba, Azure and AWS over IPv6.
 */
const metadataServices = ['169.254.0.0/16', '100.100.100.200/32', '168.63.129.16/32', 'fd00:ec2::254/128'];

/** Ports of a machine with a management API server that no control plane needs: kubelet, etcd and its peers. */
const machinePorts = [2379, 2380, 10250];

const lastPort = 65_535;

const tcpPort = (port: number | string): Port => ({ protocol: 'TCP', port });
const isIpv6 = (address: string): boolean => address.includes(':');
const single = (address: string): string => `${address}/${isIpv6(address) ? 128 : 32}`;

function distinct(ports: readonly Port[]): readonly Port[] {
  return [...new Map(ports.map((port) => [JSON.stringify(port), port])).values()];
}

/** The target ports of a Service; a port without a target is its own target. */
function servedPorts({ spec }: Service): readonly Port[] {
  return (spec?.ports ?? []).map(({ protocol = 'TCP', port, targetPort }) => ({
    protocol,
    port: targetPort === undefined || targetPort === '' ? port : targetPort,
  }));
}

/**
 * The exposed ports: the secure port, the ports of the Service, among them those of add-ons, and the ports that additional
 * containers declare.
 */
function publishedPorts({ tcp, port, service }: NetworkPolicyInput): readonly Port[] {
  const { controlPlane } = tcp.spec;
  const { additionalContainers = [], additionalInitContainers = [] } = controlPlane.deployment;
  const declared = [...additionalInitContainers, ...additionalContainers].flatMap(({ ports = [] }) => ports);
  return distinct([
    tcpPort(port),
    ...(controlPlane.service.additionalPorts ?? []).map(({ protocol, targetPort }) => ({ protocol, port: targetPort })),
    ...servedPorts(service),
    ...declared.map(({ protocol = 'TCP', containerPort }) => ({ protocol, port: containerPort })),
  ]);
}

/** All other ports, as ranges. */
function otherPorts(taken: readonly number[]): readonly Port[] {
  const sorted = [...new Set(taken)].sort((a, b) => a - b);
  const starts = [1, ...sorted.map((port) => port + 1)];
  const ends = [...sorted.map((port) => port - 1), lastPort];
  const ranges = starts.map((start, index) => ({ protocol: 'TCP', port: start, endPort: ends[index] ?? lastPort }));
  return [...ranges.filter(({ port, endPort }) => port <= endPort), { protocol: 'UDP', port: 1, endPort: lastPort }];
}

/** Every address of both families except these networks. */
function everywhereBut(networks: readonly string[]): readonly object[] {
  return ['0.0.0.0/0', '::/0'].map((cidr) => {
    const except = networks.filter((network) => isIpv6(network) === isIpv6(cidr));
    return { ipBlock: { cidr, ...(except.length > 0 && { except }) } };
  });
}

/**
 * What the pods may connect to. Stores, webhooks, identity providers and workers may be at any address, so what is denied
 * is named: the management API server, the clouds' metadata, the pods of other control planes and those of Steward. A network
 * plugin that distinguishes its nodes from other addresses (Cilium) does not include them in an ipBlock: names and stores
 * are therefore allowed by their ports alone, wherever they are.
 */
function allowedTargets({ tcp, storePorts, management }: NetworkPolicyInput): readonly object[] {
  const { serviceAddresses, hosts } = management;
  const apiPorts = [443, ...hosts.map(({ port }) => port)];
  const anywhere = [...new Set(storePorts)].filter((port) => !apiPorts.includes(port)).sort((a, b) => a - b);
  const denied = [...new Set([...serviceAddresses, ...hosts.map(({ address }) => address)])].sort();
  const hostsByPort = Map.groupBy(hosts, ({ port }) => port);
  return [
    { ports: [{ protocol: 'UDP', port: 53 }, tcpPort(53), ...anywhere.map(tcpPort)] },
    {
      to: [
        ...everywhereBut([...denied.map(single), ...metadataServices]),
        {
          namespaceSelector: {},
          podSelector: {
            matchExpressions: [
              { key: labels.name, operator: 'DoesNotExist' },
              // Nor the manager, which no control plane needs, nor the activator, which leads to others.
              { key: appComponent, operator: 'NotIn', values: ['controller-manager', activatorComponent] },
            ],
          },
        },
        { podSelector: { matchLabels: podSelector(tcp) } },
      ],
    },
    // Other services on these machines, such as an ingress controller in front of an identity provider.
    ...[...hostsByPort].map(([port, group]) => ({
      to: group.map(({ address }) => ({ ipBlock: { cidr: single(address) } })),
      ports: otherPorts([port, ...machinePorts]),
    })),
  ];
}

/**
 * The allowed connections to and from the pods of a control plane. The kubelet's probes need no rule: traffic from a pod's own
 * node is always allowed (https://kubernetes.io/docs/concepts/services-networking/network-policies/). Policies are additive:
 * further connections can be allowed by another policy for the same pods.
 */
export function networkPolicy(input: NetworkPolicyInput): readonly Manifest[] {
  const { tcp } = input;
  const { ingress = 'Restricted', egress = 'Restricted' } = tcp.spec.controlPlane.networkPolicy ?? {};
  const closed = { ingress: ingress === 'Restricted', egress: egress === 'Restricted' };
  if (!closed.ingress && !closed.egress) return [];
  return [
    ownedManifest(tcp, {
      apiVersion: 'networking.k8s.io/v1',
      kind: 'NetworkPolicy',
      name: tenantObjects(tcp.metadata.name).networkPolicy,
      component: policyComponent,
      body: {
        spec: {
          podSelector: { matchLabels: podSelector(tcp) },
          policyTypes: [...(closed.ingress ? ['Ingress'] : []), ...(closed.egress ? ['Egress'] : [])],
          ...(closed.ingress && {
            ingress: [
              { ports: publishedPorts(input) },
              ...(input.isMonitored
                ? [{ from: [monitoringNamespaces], ports: Object.values(componentPorts).map(tcpPort) }]
                : []),
            ],
          }),
          ...(closed.egress && { egress: allowedTargets(input) }),
        },
      },
    }),
  ];
}
