import type { TenantControlPlane } from '../../../../api/steward/v1alpha1/tenant-control-plane.ts';
import type { InvalidInput } from '../../../../kubeadm/invalid-input-error.ts';
import { konnectivityPorts } from './server-arguments.ts';

const at = 'spec.addons.konnectivity.server.port';

/** The ports that proxy-server accepts: neither reserved nor ephemeral ones. */
const range = { from: 1024, to: 49151 } as const;

/** The ports that are already used in the pod or by its Service, and by what. */
function takenPorts({ spec }: TenantControlPlane): ReadonlyMap<number, string> {
  return new Map([
    ...(spec.controlPlane.service.additionalPorts ?? []).map(
      ({ name, port }) => [port, `the additional port ${name} of the Service`] as const,
    ),
    [10257, 'kube-controller-manager in the same pod'],
    [10259, 'kube-scheduler in the same pod'],
    [konnectivityPorts.admin, 'the konnectivity server itself'],
    [konnectivityPorts.health, 'the konnectivity server itself'],
    [spec.networkProfile.port, 'kube-apiserver (spec.networkProfile.port)'],
  ]);
}

/** Validates the tunnel that the author wants. */
export function validateKonnectivity(tcp: TenantControlPlane): readonly InvalidInput[] {
  const server = tcp.spec.addons.konnectivity?.server;
  if (server === undefined) return [];
  const { port } = server;
  const remedy = `use a port between ${range.from} and ${range.to} that nothing else in the control plane uses, e.g. 8132`;
  if (port < range.from || port > range.to) {
    return [{ field: at, value: String(port), reason: 'is not a port that the konnectivity server accepts', remedy }];
  }
  const taken = takenPorts(tcp).get(port);
  const ownPorts = Object.values(konnectivityPorts) as readonly number[];
  const own = ownPorts.includes(tcp.spec.networkProfile.port);
  return [
    ...(taken === undefined ? [] : [{ field: at, value: String(port), reason: `is used by ${taken}`, remedy }]),
    ...(own
      ? [
          {
            field: 'spec.networkProfile.port',
            value: String(tcp.spec.networkProfile.port),
            reason: 'is used by the konnectivity server in the same pod',
            remedy: `use a port other than ${ownPorts.join(' and ')}, e.g. 6443`,
          },
        ]
      : []),
  ];
}
