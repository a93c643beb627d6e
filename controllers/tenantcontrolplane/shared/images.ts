import type { TenantControlPlane } from '../../../api/steward/v1alpha1/tenant-control-plane.ts';
import { normalizeVersion } from '../../../kubeadm/versions.ts';

/** The images of the three programs of a control plane. */
export interface Images {
  readonly apiServer: string;
  readonly controllerManager: string;
  readonly scheduler: string;
}

/** The images of the pods. The tag is always `vX.Y.Z`. Throws `InvalidInputError` for an invalid version. */
export function images(tcp: TenantControlPlane): Images {
  const settings = tcp.spec.controlPlane.deployment.registrySettings;
  const registry = settings.registry.replace(/\/+$/, '');
  const tag = `${normalizeVersion(tcp.spec.kubernetes.version, 'spec.kubernetes.version')}${settings.tagSuffix ?? ''}`;
  const image = (name: string): string => `${registry}/${name}:${tag}`;
  return {
    apiServer: image(settings.apiServerImage),
    controllerManager: image(settings.controllerManagerImage),
    scheduler: image(settings.schedulerImage),
  };
}
