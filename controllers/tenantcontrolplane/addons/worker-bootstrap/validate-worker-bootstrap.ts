import type { TenantControlPlane } from '../../../../api/steward/v1alpha1/tenant-control-plane.ts';
import { collectErrors } from '../../../../kubeadm/collect-errors.ts';
import type { InvalidInput } from '../../../../kubeadm/invalid-input-error.ts';
import { parseCidr } from '../../../../kubeadm/networks.ts';
import { alternativeNames } from '../../../../kubeadm/san.ts';

const at = 'spec.addons.workerBootstrap';

function validateTrustd(tcp: TenantControlPlane, taken: ReadonlyMap<number, string>): readonly InvalidInput[] {
  const talos = tcp.spec.addons.workerBootstrap?.talos;
  if (talos === undefined) {
    return [{ field: `${at}.talos`, reason: 'is required when the provider is talos', remedy: 'set it' }];
  }
  const { port, certSANs = [] } = talos;
  const isPort = port >= 1 && port <= 65535;
  const by = taken.get(port);
  const remedy = 'use a port that nothing else in the control plane uses; Talos itself only dials 50001';
  return [
    ...(by === undefined
      ? []
      : [{ field: `${at}.talos.port`, value: String(port), reason: `is used by ${by}`, remedy }]),
    ...(isPort
      ? []
      : [
          {
            field: `${at}.talos.port`,
            value: String(port),
            reason: 'is not a port',
            remedy: 'use a port between 1 and 65535',
          },
        ]),
    ...collectErrors(() => alternativeNames(certSANs, `${at}.talos.certSANs`)),
  ];
}

/** Validates the bootstrap of workers that the author wants. */
export function validateWorkerBootstrap(
  tcp: TenantControlPlane,
  taken: ReadonlyMap<number, string>,
): readonly InvalidInput[] {
  const bootstrap = tcp.spec.addons.workerBootstrap;
  if (bootstrap === undefined) return [];
  const subnets = (bootstrap.allowedSubnets ?? []).map(
    (subnet, index) => (): unknown => parseCidr(subnet, `${at}.allowedSubnets[${index}]`),
  );
  return [...validateTrustd(tcp, taken), ...collectErrors(...subnets)];
}
