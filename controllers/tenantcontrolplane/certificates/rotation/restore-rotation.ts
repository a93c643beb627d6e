import type { Secret } from '../../../../api/core/kinds.ts';
import { annotations, dataKeys, tenantObjects } from '../../../../api/names.ts';
import type { CredentialsRotation } from '../../../../api/steward/v1alpha1/credentials-rotation.ts';
import type { TenantControlPlane } from '../../../../api/steward/v1alpha1/tenant-control-plane.ts';

/**
 * The record of a CA rotation that was Prepared when the status was lost, as in a restored or moved cluster; it follows from the
 * Secret of the CA. Undefined when there is none.
 */
export function recovered(
  tcp: TenantControlPlane,
  secrets: ReadonlyMap<string, Secret>,
): CredentialsRotation | undefined {
  const secret = secrets.get(tenantObjects(tcp.metadata.name).ca);
  const lastInitiationTime = secret?.metadata.annotations?.[annotations.rotate] ?? '';
  if (secret?.data?.[dataKeys.ca.previousCertificate] === undefined || lastInitiationTime === '') return undefined;
  const isServing = secret.data[dataKeys.ca.previousKey] === undefined;
  return {
    certificateAuthorities: isServing
      ? { phase: 'Completing', step: 'Serving', lastInitiationTime }
      : { phase: 'Prepared', step: 'Signing', lastInitiationTime, lastInitiationFinishedTime: lastInitiationTime },
  };
}
