import type { Manifest } from '../../../api/meta.ts';
import { finalizers } from '../../../api/names.ts';
import { dataOwner } from '../../../api/steward/v1alpha1/data-owner.ts';
import { retainedControlPlane, retainedKey } from '../../../api/steward/v1alpha1/retained-control-plane.ts';
import type { RetainedControlPlaneSpec } from '../../../api/steward/v1alpha1/retained-control-plane.ts';
import type { TenantControlPlane } from '../../../api/steward/v1alpha1/tenant-control-plane.ts';

/**
 * What is retained of a TenantControlPlane: where its data is and who owns it, what workers and users know of it, the
 * version that it has reached, and its spec, by which that version was held and a DataStore chosen.
 */
export function retainedSpec(tcp: TenantControlPlane): RetainedControlPlaneSpec {
  const { spec, status = {}, metadata } = tcp;
  const { storage, certificates, kubernetesResources, addons, controlPlaneEndpoint } = status;
  const { version, deployment } = kubernetesResources ?? {};
  const owner = dataOwner(tcp);
  const recorded: TenantControlPlane['status'] = {
    storage: { ...storage, ...(owner !== undefined && { owner }) },
    ...(certificates !== undefined && {
      certificates: {
        ca: certificates.ca,
        frontProxyCA: certificates.frontProxyCA,
        sa: certificates.sa,
        rotation: certificates.rotation,
      },
    }),
    kubernetesResources: {
      version: { status: 'Provisioning', version: version?.version },
      // That there were pods is known, how many there are is not.
      ...(deployment !== undefined && {
        deployment: { selector: deployment.selector, name: deployment.name, namespace: deployment.namespace },
      }),
    },
    addons,
    controlPlaneEndpoint,
  };
  const controller = metadata.ownerReferences?.find((reference) => reference.controller === true);
  return {
    formerUID: metadata.uid,
    ...(controller !== undefined && { controllerUID: controller.uid }),
    record: JSON.stringify({ spec, status: recorded }),
  };
}

/**
 * The retained record of a TenantControlPlane. It is created with its finalizer: deleted without it, it would leave the
 * data behind.
 */
export function retainedManifest(tcp: TenantControlPlane): Manifest {
  const { name } = retainedKey(tcp);
  return {
    apiVersion: `${retainedControlPlane.group}/${retainedControlPlane.version}`,
    kind: retainedControlPlane.kind,
    metadata: { name, finalizers: [finalizers.retained] },
    spec: retainedSpec(tcp),
  };
}
