import type { Manifest } from '../../../api/meta.ts';
import { canonicalIp } from '../../../kubeadm/networks.ts';
import { argumentValue } from '../shared/argument-value.ts';
import type { DocumentInput } from './tenant-documents.ts';

const metadata = { name: 'kubernetes', namespace: 'default' } as const;

/** The port name of the Service `kubernetes`, by which its endpoints are matched. */
const portName = 'https';

/**
 * The endpoints of the Service `kubernetes` inside the tenant, as an Endpoints object and its slice; nothing where the author
 * maintains them. They have the same form as kube-apiserver's own
 * (https://github.com/kubernetes/kubernetes/blob/v1.36.3/pkg/controlplane/reconcilers/endpointsadapter.go), including the label
 * against mirroring, so that older API servers, which still maintain them, find nothing to change. API servers leave them to
 * Steward because each removes the shared address when it ends, and the next one restores it only seconds later.
 */
export function kubernetesEndpoints({ tcp, endpoint }: Pick<DocumentInput, 'tcp' | 'endpoint'>): readonly Manifest[] {
  const args = tcp.spec.controlPlane.deployment.extraArgs?.apiServer;
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
