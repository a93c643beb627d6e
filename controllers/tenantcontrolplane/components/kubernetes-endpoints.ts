import type { Manifest } from '../../../api/meta.ts';
import { canonicalIp } from '../../../kubeadm/networks.ts';
import { argumentValue } from './argument-value.ts';
import type { DocumentInput } from './tenant-documents.ts';

const metadata = { name: 'kubernetes', namespace: 'default' } as const;

/** The name that the port of the Service `kubernetes` has: endpoints are found by it. */
const portName = 'https';

/**
 * Where the Service `kubernetes` inside the tenant leads, as an Endpoints object and its slice; nothing where the author or a proxy
 * keeps them. They have the shape that kube-apiserver gives them
 * (https://github.com/kubernetes/kubernetes/blob/v1.36.3/pkg/controlplane/reconcilers/endpointsadapter.go), label against
 * mirroring included, so that API servers of before, which still keep them, find nothing to change. API servers leave them to us because each
 * takes the shared address out when it ends, and the next one puts it back only seconds later.
 */
export function kubernetesEndpoints({ tcp, endpoint }: DocumentInput): readonly Manifest[] {
  const args = tcp.spec.controlPlane.deployment.extraArgs?.apiServer;
  if (tcp.spec.addons.tcpProxy !== undefined) return [];
  if (argumentValue(args, 'endpoint-reconciler-type') !== undefined) return [];
  const announced = argumentValue(args, 'advertise-address') ?? endpoint.address;
  const address = canonicalIp(announced) ?? announced;
  const port = { name: portName, port: endpoint.port, protocol: 'TCP' };
  return [
    {
      apiVersion: 'v1',
      kind: 'Endpoints',
      metadata: { ...metadata, labels: { 'endpointslice.kubernetes.io/skip-mirror': 'true' } },
      subsets: [{ addresses: [{ ip: address }], ports: [port] }],
    },
    {
      apiVersion: 'discovery.k8s.io/v1',
      kind: 'EndpointSlice',
      metadata: { ...metadata, labels: { 'kubernetes.io/service-name': metadata.name } },
      addressType: address.includes(':') ? 'IPv6' : 'IPv4',
      endpoints: [{ addresses: [address], conditions: { ready: true } }],
      ports: [port],
    },
  ];
}
