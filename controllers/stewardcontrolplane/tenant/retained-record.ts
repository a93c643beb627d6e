import type { KeptTenancy } from '../../../api/controlplane/kept-tenancy.ts';
import type { TenantControlPlane } from '../../../api/steward/v1alpha1/tenant-control-plane.ts';

/** UID of the TenantControlPlane that the data was made for. */
export function dataOwner({ metadata, status }: TenantControlPlane): string | undefined {
  return status?.storage?.owner ?? metadata.uid;
}

/**
 * What is to be kept of a TenantControlPlane that goes alone: where its data is and whose, what workers and users know of it, the
 * version that it has reached, and its spec, by which that version was held and a DataStore chosen.
 */
export function keptRecord(tenant: TenantControlPlane): KeptTenancy {
  const { spec, status = {}, metadata } = tenant;
  const { storage, certificates, kubernetesResources, addons, controlPlaneEndpoint } = status;
  const { version, deployment } = kubernetesResources ?? {};
  const owner = dataOwner(tenant);
  const recorded: TenantControlPlane['status'] = {
    storage: { ...storage, ...(owner !== undefined && { owner }) },
    ...(certificates !== undefined && {
      certificates: {
        ...(certificates.ca !== undefined && { ca: certificates.ca }),
        ...(certificates.frontProxyCA !== undefined && { frontProxyCA: certificates.frontProxyCA }),
        ...(certificates.sa !== undefined && { sa: certificates.sa }),
        ...(certificates.rotation !== undefined && { rotation: certificates.rotation }),
      },
    }),
    kubernetesResources: {
      version: { status: 'Provisioning', ...(version?.version !== undefined && { version: version.version }) },
      // That there were pods is known, how many there are is not.
      ...(deployment !== undefined && {
        deployment: { selector: deployment.selector, name: deployment.name, namespace: deployment.namespace },
      }),
    },
    ...(addons !== undefined && { addons }),
    ...(controlPlaneEndpoint !== undefined && { controlPlaneEndpoint }),
  };
  return { formerUID: metadata.uid ?? '', record: JSON.stringify({ spec, status: recorded }) };
}
