import { versionText } from '../../../kubeadm/versions.ts';
import type { ControlPlaneInput } from './control-plane-input.ts';

/** The images of the three programs of a control plane. */
export interface Images {
  readonly apiServer: string;
  readonly controllerManager: string;
  readonly scheduler: string;
}

/** The images of the pods. The tag is always `vX.Y.Z`, with the author's suffix. */
export function images({ tcp, version }: Pick<ControlPlaneInput, 'tcp' | 'version'>): Images {
  const settings = tcp.spec.controlPlane.deployment.registrySettings;
  const registry = settings.registry.replace(/\/+$/, '');
  const tag = `${versionText(version)}${settings.tagSuffix ?? ''}`;
  const image = (name: string): string => `${registry}/${name}:${tag}`;
  return {
    apiServer: image(settings.apiServerImage),
    controllerManager: image(settings.controllerManagerImage),
    scheduler: image(settings.schedulerImage),
  };
}
