import { isIP } from 'node:net';
import { splitHostPort } from '../../../kubeadm/networks.ts';

/** The fields of a spec that decide the endpoint, with what other tools leave open. */
export interface ExposedSpec {
  readonly controlPlane?: {
    readonly ingress?: unknown;
    readonly gateway?: unknown;
    readonly service?: { readonly serviceType?: string };
  };
  readonly networkProfile?: { readonly address?: string; readonly advertiseAddress?: string };
}

/**
 * The address that the spec has to name so that the endpoint stays: for a NodePort Service without an address, Kamaji and the Go Steward
 * send workers to the cluster IP, and Steward to a node. Undefined if the endpoint follows from the spec as it is.
 */
export function pinnedAddress(spec: ExposedSpec, endpoint: string): string | undefined {
  const { controlPlane, networkProfile } = spec;
  if (controlPlane?.service?.serviceType !== 'NodePort') return undefined;
  if ((controlPlane.ingress ?? controlPlane.gateway) !== undefined) return undefined;
  if ((networkProfile?.address ?? networkProfile?.advertiseAddress ?? '') !== '') return undefined;
  const { host } = splitHostPort(endpoint, 'status.controlPlaneEndpoint');
  return isIP(host) === 0 ? undefined : host;
}
