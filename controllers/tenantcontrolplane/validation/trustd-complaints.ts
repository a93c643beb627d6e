import type { TenantControlPlane } from '../../../api/steward/v1alpha1/tenant-control-plane.ts';
import { collectComplaints } from '../../../kubeadm/collect-complaints.ts';
import type { InvalidInput } from '../../../kubeadm/invalid-input-error.ts';
import { alternativeNames } from '../../../kubeadm/san.ts';
import { konnectivityPorts } from '../components/konnectivity/server-arguments.ts';

const at = 'spec.addons.workerBootstrap.talos';

/** Who else listens on the ports of the pod, or is reached at those of its Service. */
function takenPorts({ spec }: TenantControlPlane): ReadonlyMap<number, string> {
  const { konnectivity } = spec.addons;
  const server = 'the konnectivity server in the same pod';
  return new Map([
    ...(spec.controlPlane.service.additionalPorts ?? []).map(
      ({ name, port }) => [port, `the additional port ${name} of the Service`] as const,
    ),
    ...(konnectivity === undefined
      ? []
      : [konnectivity.server.port, ...Object.values(konnectivityPorts)].map((port) => [port, server] as const)),
    [10257, 'kube-controller-manager in the same pod'],
    [10259, 'kube-scheduler in the same pod'],
    [spec.networkProfile.port, 'kube-apiserver (spec.networkProfile.port)'],
  ]);
}

/** What is wrong with the trustd that the author wants, beside that it needs a port at all. */
export function trustdComplaints(tcp: TenantControlPlane): readonly InvalidInput[] {
  const talos = tcp.spec.addons.workerBootstrap?.talos;
  if (talos === undefined) return [];
  const { port, certSANs = [] } = talos;
  const taken = takenPorts(tcp).get(port);
  const remedy = 'give a port that nothing else of the control plane has; Talos itself dials no other than 50001';
  return [
    ...(taken === undefined
      ? []
      : [{ field: `${at}.port`, value: String(port), reason: `is used by ${taken}`, remedy }]),
    ...collectComplaints(() => alternativeNames(certSANs, `${at}.certSANs`)),
  ];
}
