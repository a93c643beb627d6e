import type { TenantControlPlane } from '../../../../api/steward/v1alpha1/tenant-control-plane.ts';
import { collectErrors } from '../../../../kubeadm/collect-errors.ts';
import type { InvalidInput } from '../../../../kubeadm/invalid-input-error.ts';
import { alternativeNames } from '../../../../kubeadm/san.ts';
import { konnectivityPorts } from '../konnectivity/server-arguments.ts';

const at = 'spec.addons.workerBootstrap.talos';

/** The ports that are already used in the pod or by its Service, and by what. */
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

/** Validates the trustd that the author wants, except that its port must be set. */
export function validateTrustd(tcp: TenantControlPlane): readonly InvalidInput[] {
  const talos = tcp.spec.addons.workerBootstrap?.talos;
  if (talos === undefined) return [];
  const { port, certSANs = [] } = talos;
  const taken = takenPorts(tcp).get(port);
  const remedy = 'use a port that nothing else in the control plane uses; Talos itself only dials 50001';
  return [
    ...(taken === undefined
      ? []
      : [{ field: `${at}.port`, value: String(port), reason: `is used by ${taken}`, remedy }]),
    ...collectErrors(() => alternativeNames(certSANs, `${at}.certSANs`)),
  ];
}
