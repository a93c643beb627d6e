import type { TenantControlPlane } from '../../../../api/steward/v1alpha1/tenant-control-plane.ts';
import type { InvalidInput } from '../../../../kubeadm/invalid-input-error.ts';
import { konnectivityPorts } from './konnectivity-server.ts';

const at = 'spec.addons.konnectivity.server.port';

/** The ports that proxy-server accepts: neither reserved nor ephemeral ones. */
const range = { from: 1024, to: 49151 } as const;

/** Validates the tunnel that the author wants. */
export function validateKonnectivity(
  tcp: TenantControlPlane,
  taken: ReadonlyMap<number, string>,
): readonly InvalidInput[] {
  const server = tcp.spec.addons.konnectivity?.server;
  if (server === undefined) return [];
  const { port } = server;
  const remedy = `use a port between ${range.from} and ${range.to} that nothing else in the control plane uses, e.g. 8132`;
  if (port < range.from || port > range.to) {
    return [{ field: at, value: String(port), reason: 'is not a port that the konnectivity server accepts', remedy }];
  }
  const ownPorts = Object.values(konnectivityPorts) as readonly number[];
  const by = ownPorts.includes(port) ? 'the konnectivity server itself' : taken.get(port);
  const own = ownPorts.includes(tcp.spec.networkProfile.port);
  return [
    ...(by === undefined ? [] : [{ field: at, value: String(port), reason: `is used by ${by}`, remedy }]),
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
