import type { Service } from '../../../api/core/kinds.ts';
import type { Manifest } from '../../../api/meta.ts';
import { passedToService } from '../../../api/embedded/network-fields.ts';
import { componentChecksumLabel, ports as portNames, tenantObjects } from '../../../api/names.ts';
import type { TenantControlPlane } from '../../../api/steward/v1alpha1/tenant-control-plane.ts';
import { onlyServedFrom } from '../../../api/steward/v1alpha1/stopped-servers.ts';
import { dataStoreLabel } from '../shared/data-store-label.ts';
import { podSelector } from '../shared/pod-selector.ts';
import { openServers } from '../shared/addon-server.ts';
import type { AddonServer, OpenServer } from '../shared/addon-server.ts';
import { ownedManifest } from '../shared/owned-manifest.ts';
import { narrowed } from '../workload/rollout/narrowed.ts';
import { validateExternalIp, externalIpOf } from './reach/external-ip.ts';
import type { Reach } from './reach/reach.ts';

/** The management cluster's `--service-node-port-range`, both ends included. */
export interface PortRange {
  readonly from: number;
  readonly to: number;
}

/** The default of Kubernetes. */
export const defaultNodePorts: PortRange = { from: 30000, to: 32767 };

/** The inputs of the Service besides the spec. */
export interface ServiceInput {
  readonly tcp: TenantControlPlane;
  readonly current: Service | undefined;
  readonly nodePorts: PortRange;
  /** How much control planes may affect outside their namespaces. */
  readonly reach: Reach;
  /** The servers of add-ons. */
  readonly servers: readonly AddonServer[];
  /** The hash of the only pods that it leads to, in a rollout; absent: all pods. */
  readonly onlyPods?: string | undefined;
}

/** The node port that the API server gave to a Service of ours, if any. */
function allocatedNodePort(current: Service | undefined): number | undefined {
  if (current?.spec?.type !== 'NodePort') return undefined;
  return current.spec.ports?.find(({ name }) => name === portNames.apiServer)?.nodePort;
}

/**
 * The single port of a control plane: of its Service, its pods and, for NodePort, its node port, because workers use it with the
 * advertised address. Undefined until the API server has assigned a node port to a control plane whose own port is out of range.
 */
export function servicePort({
  tcp,
  current,
  nodePorts,
}: Pick<ServiceInput, 'tcp' | 'current' | 'nodePorts'>): number | undefined {
  const wanted = tcp.spec.networkProfile.port;
  if (tcp.spec.controlPlane.service.serviceType !== 'NodePort') return wanted;
  if (wanted >= nodePorts.from && wanted <= nodePorts.to) return wanted;
  return allocatedNodePort(current);
}

interface Port {
  readonly name: string;
  readonly protocol: string;
  readonly port: number;
  readonly targetPort: number | string;
  readonly nodePort?: number;
  readonly appProtocol?: string;
}

/** A port of an add-on. Its node port is only set if the author's port is in range; otherwise the API server chooses one. */
function addonPort({ server, port }: OpenServer, { tcp, nodePorts }: ServiceInput): Port {
  const isNodePort = port >= nodePorts.from && port <= nodePorts.to;
  const asNodePort = tcp.spec.controlPlane.service.serviceType === 'NodePort' && isNodePort;
  return { name: server.portName, protocol: 'TCP', port, targetPort: port, ...(asNodePort && { nodePort: port }) };
}

function servicePorts(input: ServiceInput): readonly Port[] {
  const { networkProfile, controlPlane } = input.tcp.spec;
  const known = servicePort(input);
  const port = known ?? networkProfile.port;
  const nodePort = controlPlane.service.serviceType === 'NodePort' ? known : undefined;
  return [
    { name: portNames.apiServer, protocol: 'TCP', port, targetPort: port, nodePort },
    ...(controlPlane.service.additionalPorts ?? []).map((extra) => ({
      name: extra.name,
      protocol: extra.protocol,
      port: extra.port,
      targetPort: extra.targetPort,
      appProtocol: extra.appProtocol,
    })),
    ...openServers(input.servers, input.tcp).map((open) => addonPort(open, input)),
  ];
}

/** What the author set among the fields that go to the Service as they are. */
function passedOn({ tcp }: ServiceInput): Readonly<Record<string, unknown>> {
  const { service } = tcp.spec.controlPlane;
  return Object.fromEntries<unknown>(Object.entries(service).filter(([name]) => name in passedToService));
}

function exposure({ tcp, reach }: ServiceInput): Readonly<Record<string, unknown>> {
  const { networkProfile, controlPlane } = tcp.spec;
  const type = controlPlane.service.serviceType;
  if (type === 'LoadBalancer') {
    const { loadBalancerClass, loadBalancerSourceRanges } = networkProfile;
    return {
      type,
      loadBalancerClass,
      ...(loadBalancerSourceRanges !== undefined &&
        loadBalancerSourceRanges.length > 0 && { loadBalancerSourceRanges }),
    };
  }
  const address = validateExternalIp(tcp, reach) === undefined ? externalIpOf(tcp) : undefined;
  return { type, ...(address !== undefined && { externalIPs: [address] }) };
}

/** The pods that may get requests; during a migration that stops them, only those on one datastore. */
function selector(tcp: TenantControlPlane): Readonly<Record<string, string>> {
  const store = onlyServedFrom(tcp);
  if (store === undefined) return podSelector(tcp);
  return { ...podSelector(tcp), [componentChecksumLabel('datastore')]: dataStoreLabel(store) };
}

/** The Service of a control plane. For a NodePort Service without a port of its own, the API server chooses one. */
export function service(input: ServiceInput): Manifest {
  const { tcp } = input;
  const { additionalMetadata } = tcp.spec.controlPlane.service;
  const made = ownedManifest(tcp, {
    apiVersion: 'v1',
    kind: 'Service',
    name: tenantObjects(tcp.metadata.name).service,
    component: 'service',
    labels: additionalMetadata?.labels,
    annotations: additionalMetadata?.annotations,
    body: { spec: { ...exposure(input), ...passedOn(input), selector: selector(tcp), ports: servicePorts(input) } },
  });
  return input.onlyPods === undefined ? made : narrowed(made, input.onlyPods);
}
