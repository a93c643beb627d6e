import { apiVersionOf } from '../../../api/meta.ts';
import type { Manifest } from '../../../api/meta.ts';
import { tenantControlPlane } from '../../../api/steward/v1alpha1/tenant-control-plane.ts';
import type { TenantControlPlaneSpecInput } from '../../../api/steward/v1alpha1/tenant-control-plane.ts';
import { normalizeVersion } from '../../../kubeadm/versions.ts';

/** The types of Service that can expose a control plane. */
export const serviceTypes = ['LoadBalancer', 'NodePort', 'ClusterIP'] as const;

/** What the command line says of a new control plane. What it does not say keeps the default of the schema. */
export interface NewControlPlane {
  readonly version: string;
  readonly replicas?: number;
  readonly datastore?: string;
  readonly serviceType: (typeof serviceTypes)[number];
  readonly address?: string;
  readonly port?: number;
  readonly certSan?: readonly string[];
  readonly podCidr?: string;
  readonly serviceCidr?: string;
  readonly konnectivity?: boolean;
  readonly addons: boolean;
}

/** The TenantControlPlane that the command line describes. Throws `InvalidInputError` for an invalid version. */
export function newControlPlane(
  key: { readonly name: string; readonly namespace: string },
  given: NewControlPlane,
): Manifest {
  const { version, replicas, datastore, serviceType, address, port, certSan, podCidr, serviceCidr } = given;
  const spec: TenantControlPlaneSpecInput = {
    ...(datastore !== undefined && { dataStore: datastore }),
    controlPlane: {
      ...(replicas !== undefined && { deployment: { replicas } }),
      service: { serviceType },
    },
    kubernetes: { version: normalizeVersion(version) },
    networkProfile: {
      ...(address !== undefined && { address }),
      ...(port !== undefined && { port }),
      ...(certSan !== undefined && { certSANs: certSan }),
      ...(podCidr !== undefined && { podCidr }),
      ...(serviceCidr !== undefined && { serviceCidr }),
    },
    addons: {
      ...(given.addons && { coreDNS: {}, kubeProxy: {} }),
      ...(given.konnectivity === true && { konnectivity: {} }),
    },
  };
  return { apiVersion: apiVersionOf(tenantControlPlane), kind: tenantControlPlane.kind, metadata: key, spec };
}
