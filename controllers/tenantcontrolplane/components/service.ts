import type { Service } from '../../../api/core/kinds.ts';
import type { Manifest } from '../../../api/meta.ts';
import { ports as portNames, tenantObjects } from '../../../api/names.ts';
import type { TenantControlPlane } from '../../../api/steward/v1alpha1/tenant-control-plane.ts';
import { podSelector } from './deployment.ts';
import { ownedManifest } from './owned-manifest.ts';
import { externalIpComplaint, externalIpOf } from './reach/external-ip.ts';
import type { Reach } from './reach/reach.ts';

/** The management cluster's `--service-node-port-range`, both ends included. */
export interface PortRange {
  readonly from: number;
  readonly to: number;
}

/** What Kubernetes uses unless told otherwise. */
export const defaultNodePorts: PortRange = { from: 30000, to: 32767 };

/** What the Service of a control plane depends on beside the spec. */
export interface ServiceInput {
  readonly tcp: TenantControlPlane;
  readonly current: Service | undefined;
  readonly nodePorts: PortRange;
  /** What may be seen of control planes outside their namespaces. */
  readonly reach: Reach;
}

/** The node port that the API server gave to a Service of ours, if any. */
function allocatedNodePort(current: Service | undefined): number | undefined {
  if (current?.spec?.type !== 'NodePort') return undefined;
  return current.spec.ports?.find(({ name }) => name === portNames.apiServer)?.nodePort;
}

/**
 * The one port of a control plane: of its Service, its pods and, for NodePort, its node port, because workers reach the
 * advertised address on it. Undefined until the API server has given a node port to a control plane that names none in
 * range.
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

/** A port of an add-on. A node port of its own is asked for only where the author's is one; any other will do. */
function addonPort(name: string, port: number | undefined, { tcp, nodePorts }: ServiceInput): readonly Port[] {
  if (port === undefined) return [];
  const isNodePort = port >= nodePorts.from && port <= nodePorts.to;
  const asNodePort = tcp.spec.controlPlane.service.serviceType === 'NodePort' && isNodePort;
  return [{ name, protocol: 'TCP', port, targetPort: port, ...(asNodePort && { nodePort: port }) }];
}

function servicePorts(input: ServiceInput): readonly Port[] {
  const { networkProfile, controlPlane, addons } = input.tcp.spec;
  const known = servicePort(input);
  const port = known ?? networkProfile.port;
  const nodePort = controlPlane.service.serviceType === 'NodePort' ? known : undefined;
  return [
    {
      name: portNames.apiServer,
      protocol: 'TCP',
      port,
      targetPort: port,
      ...(nodePort !== undefined && { nodePort }),
    },
    ...addonPort(portNames.konnectivity, addons.konnectivity?.server.port, input),
    ...(controlPlane.service.additionalPorts ?? []).map((extra) => ({
      name: extra.name,
      protocol: extra.protocol,
      port: extra.port,
      targetPort: extra.targetPort,
      ...(extra.appProtocol !== undefined && { appProtocol: extra.appProtocol }),
    })),
    ...addonPort(portNames.trustdService, addons.workerBootstrap?.talos?.port, input),
  ];
}

function exposure({ tcp, reach }: ServiceInput): Readonly<Record<string, unknown>> {
  const { networkProfile, controlPlane } = tcp.spec;
  const type = controlPlane.service.serviceType;
  if (type === 'LoadBalancer') {
    const { loadBalancerClass, loadBalancerSourceRanges } = networkProfile;
    return {
      type,
      ...(loadBalancerClass !== undefined && { loadBalancerClass }),
      ...(loadBalancerSourceRanges !== undefined &&
        loadBalancerSourceRanges.length > 0 && { loadBalancerSourceRanges }),
    };
  }
  const address = externalIpComplaint(tcp, reach) === undefined ? externalIpOf(tcp) : undefined;
  return { type, ...(address !== undefined && { externalIPs: [address] }) };
}

/** The Service of a control plane. Without a port of its own a NodePort Service lets the API server choose one. */
export function service(input: ServiceInput): Manifest {
  const { tcp } = input;
  const { additionalMetadata } = tcp.spec.controlPlane.service;
  return ownedManifest(tcp, {
    apiVersion: 'v1',
    kind: 'Service',
    name: tenantObjects(tcp.metadata.name ?? '').service,
    component: 'service',
    labels: additionalMetadata?.labels,
    annotations: additionalMetadata?.annotations,
    body: { spec: { ...exposure(input), selector: podSelector(tcp), ports: servicePorts(input) } },
  });
}
