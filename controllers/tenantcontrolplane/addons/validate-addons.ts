import type { TenantControlPlane } from '../../../api/steward/v1alpha1/tenant-control-plane.ts';
import type { InvalidInput } from '../../../kubeadm/invalid-input-error.ts';
import { openServers, serversOf } from '../shared/addon-server.ts';
import type { Addon } from './addon.ts';

/** The ports that are used in the pods or by their Service without any add-on, and by what. */
function takenPorts({ spec }: TenantControlPlane): readonly (readonly [port: number, by: string])[] {
  const extra = spec.controlPlane.service.additionalPorts ?? [];
  return [
    ...extra.map(({ name, port }) => [port, `the additional port ${name} of the Service`] as const),
    [10257, 'kube-controller-manager in the same pod'],
    [10259, 'kube-scheduler in the same pod'],
    [spec.networkProfile.port, 'kube-apiserver (spec.networkProfile.port)'],
  ];
}

/** Validates what the author wants of add-ons. A port that two of them use is reported for the later one in the registry. */
export function validateAddons(addons: readonly Addon[], tcp: TenantControlPlane): readonly InvalidInput[] {
  const taken = new Map(takenPorts(tcp));
  return addons.flatMap((addon) => {
    const found = addon.validate?.(tcp, taken) ?? [];
    for (const { server, port } of openServers(serversOf([addon]), tcp)) {
      for (const used of [port, ...(server.ownPorts ?? [])]) taken.set(used, `${server.portName} in the same pod`);
    }
    return found;
  });
}
